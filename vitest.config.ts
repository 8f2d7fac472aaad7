// How the tests run: in processes of their own, since they start worker threads and WebAssembly guests, and always against
// a fresh build (see scripts/build-for-tests.mjs).
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['./scripts/build-for-tests.mjs'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
