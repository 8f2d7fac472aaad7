import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { findV8, refusal, v8 } from '../../src/engine/v8-install.ts';
import { createCodeMode } from '../../src/index.ts';
import { NODE_24 } from '../helpers/engines.ts';

describe('a pair of versions is refused', () => {
  test.each([
    ['5.0.4', '20.20.2', false, /5\.0\.4 is refused.*GHSA-864f-rcv7-6rh4/],
    ['6.1.2', '22.20.0', true, /6\.1\.2 is refused.*GHSA-864f-rcv7-6rh4/],
    ['7.0.0', '24.1.0', false, /7\.0\.0 is refused.*GHSA-864f-rcv7-6rh4/],
    ['6.2.0', '22.20.0', false, /allowNode22: true/],
    ['6.2.0', '24.1.0', true, /only on Node 22/],
    ['6.2.0', '20.20.2', true, /only on Node 22/],
    ['7.0.1', '20.20.2', false, /needs Node 24 or later.*Node 20\.20\.2.*v8\(\{ node:/],
    ['7.0.1', '22.20.0', true, /needs Node 24 or later/],
  ])('isolated-vm %s on Node %s, allowNode22 %s', (isolatedVm, node, allowNode22, sentence) => {
    expect(refusal({ isolatedVm, node }, allowNode22)).toMatch(sentence);
  });
});

test.each([
  ['7.0.1', '24.0.0', false],
  ['7.1.0', '26.3.0', false],
  ['8.0.0', '26.0.0', false],
  ['6.2.0', '22.20.0', true],
])('isolated-vm %s on Node %s, allowNode22 %s, is taken', (isolatedVm, node, allowNode22) => {
  expect(refusal({ isolatedVm, node }, allowNode22)).toBeUndefined();
});

test('the versions that are there are found by the Node that will run them', async () => {
  const found = await findV8(v8({ node: NODE_24 }));
  expect(found.node).toMatch(/^2[4-9]\./);
  expect(found.isolatedVm).toMatch(/^7\./);
  if (process.platform === 'linux') expect(found.dataBytes).toBeGreaterThan(1 << 20);
});

describe('a Node that will not do is told before any program runs', () => {
  test('when it is too old', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'callgate-test-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const old = join(folder, 'node');
    writeFileSync(old, '#!/bin/sh\necho \'{"node":"20.1.0","problem":"wrong ABI"}\'\n');
    chmodSync(old, 0o755);
    await using codeMode = createCodeMode({ tools: [], engine: v8({ node: old }) });
    await expect(codeMode.run('return 1')).rejects.toMatchObject({
      code: 'engine_unavailable',
      message: expect.stringMatching(/needs Node 24 or later.*this is Node 20\.1\.0/),
    });
    // Another engine is another matter.
    expect((await codeMode.run('return 1', { engine: 'quickjs' })).value).toBe(1);
  });

  test('when it is not there', async () => {
    await expect(findV8(v8({ node: '/nowhere/node' }))).rejects.toMatchObject({
      code: 'engine_unavailable',
      message: expect.stringMatching(/\/nowhere\/node, cannot be run/),
    });
  });

  test('when the package does not load there', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'callgate-test-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const broken = join(folder, 'node');
    writeFileSync(broken, '#!/bin/sh\necho \'{"node":"24.1.0","problem":"no native build"}\'\n');
    chmodSync(broken, 0o755);
    await expect(findV8(v8({ node: broken }))).rejects.toThrow(/does not load in Node 24\.1\.0.*no native build/);
  });
});

test.each([
  [{ nod: 'x' }, /no option `nod`/],
  [{ node: '' }, /`node` should be the path/],
  [{ allowNode22: 'yes' }, /true or false/],
])('v8(%j) is a mistake', (options, sentence) => {
  expect(() => v8(options as object)).toThrow(sentence);
});

test('an isolate lives in no thread of the host', () => {
  for (const isolation of ['thread', 'inline'] as const)
    expect(() => createCodeMode({ tools: [], engine: 'v8', isolation })).toThrow(/`isolation: "process"` only/);
});
