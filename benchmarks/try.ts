import { fork } from 'node:child_process';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { PEERS } from './peers/peers.ts';

const given: string[] = process.argv.slice(2);
const which = given.length > 1 ? undefined : given[0];
const others = given;
if (which === undefined) {
  for (const peer of PEERS) {
    if (others.length > 0 && !others.includes(peer.name)) continue;
    await new Promise((resolve) =>
      fork(fileURLToPath(import.meta.url), [peer.name], { execArgv: process.execArgv }).on('exit', (code, sig) => {
        if (code !== 0) console.error('EXIT', code, sig);
        resolve(1);
      }),
    );
  }
  process.kill(process.pid, 'SIGKILL');
}
const say = console.error;
const peer = PEERS.find(({ name }) => name === which)!;
say(`--- ${peer.name}`);
let now = 0,
  most = 0;
const tools = {
  echo: async (input: unknown) => input,
  fail: async () => {
    throw new TypeError('tool broke');
  },
  slow: async (input: unknown) => {
    most = Math.max(most, ++now);
    await delay(50);
    now--;
    return input;
  },
  bytes: async () => new Uint8Array(1000).fill(7),
  take: async (input: unknown) => (input instanceof Uint8Array ? input.length : `no bytes: ${Object.prototype.toString.call(input)}`),
};
try {
  const opened = await peer.open({ tools });
  const t = async (name: string, source: string) => {
    const began = performance.now();
    const out = await Promise.race([opened.run(source), delay(8000, 'TIMEOUT')]);
    say(name.padEnd(14), (performance.now() - began).toFixed(1).padStart(8), JSON.stringify(out).slice(0, 150));
  };
  await t('value', 'return { a: [1, "x", null] };');
  await t('again', 'return { a: [1, "x", null] };');
  await t('nothing', 'await 1;');
  await t('throw', 'throw new RangeError("boom");');
  await t('syntax', 'return (;');
  await t('toolerror', 'await tools.fail({ a: 1 });');
  await t('caught', 'try { await tools.fail({}); } catch (e) { return e.name + ": " + e.message; }');
  await t('fresh 1', 'globalThis.leak = 1; Array.prototype.evil = 1; return typeof leak;');
  await t('fresh 2', 'return typeof globalThis.leak + typeof [].evil;');
  await t('echo', 'return (await tools.echo({ value: 1 })).value;');
  await t(
    '256',
    'return (await Promise.all(Array.from({ length: 256 }, (_, value) => tools.echo({ value })))).map((x) => x.value).reduce((a, b) => a + b);',
  );
  most = 0;
  await t('16 slow', 'return (await Promise.all(Array.from({ length: 16 }, (_, value) => tools.slow({ value })))).length;');
  say('most at once', most);
  most = 0;
  const began = performance.now();
  const all = await Promise.race([
    Promise.all(Array.from({ length: 8 }, (_, i) => opened.run(`return (await tools.slow({ value: ${i} })).value`))),
    delay(8000, 'TIMEOUT'),
  ]);
  say('8 programs', (performance.now() - began).toFixed(1), 'most at once', most, JSON.stringify(all).slice(0, 120));
  await t('bytes in', 'const b = await tools.bytes({}); return [b instanceof Uint8Array, b.length, b[999]];');
  await t('bytes out', 'return await tools.take(new Uint8Array(500).fill(3));');
  await t('bytes value', 'return new Uint8Array(4).fill(3);');
  await t('dangling', 'tools.slow({}); return 1;');
  await t('after', 'return 2;');
  await delay(100);
  await t('1000 tools', 'let n = 0; for (let i = 0; i < 1000; i++) n += (await tools.echo({ value: i })).value; return n;');
  await Promise.race([opened.close?.(), delay(2000)]);
} catch (error) {
  say('FAILED', error);
}
process.kill(process.pid, 'SIGKILL');
