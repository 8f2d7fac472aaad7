// What is true of programs in the default engine is true in QuickJS in a child process: the same suites, once more.
import { vi } from 'vitest';

vi.stubEnv('CALLGATE_TEST', 'quickjs process');
// Their tests become tests of this file.
await import('../programs/diagnosis.test.ts');
await import('../programs/helpers.test.ts');
await import('../docs.test.ts');
await import('../session/run.test.ts');
await import('../session/session.test.ts');
await import('../program/guest-globals.test.ts');
