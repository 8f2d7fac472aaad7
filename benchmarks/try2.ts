import { quickJsEmscripten } from './peers/quickjs-emscripten.ts';
const rows = Array.from({ length: 48000 }, (_, id) => ({ id, name: 'Customer ' + id, active: id % 3 === 0, balance: id * 1.25, tags: ['a', 'b'] }));
console.log(JSON.stringify(rows).length);
const o = await quickJsEmscripten.open({ tools: { give: () => rows }, memoryBytes: 1 << 30 });
console.log(await o.run('const got = await tools.give({}); return got.length;').catch((e: unknown) => e));
for (const bytes of [1000, 16000, 128000, 1e6, 4e6, 16e6]) {
  const n = Math.max(1, Math.floor(bytes / (JSON.stringify({ id: 0, name: 'Customer 0', active: true, balance: 0, tags: ['a', 'b'] }).length + 2 * String(Math.round(bytes / 90)).length + 2)));
  console.log(bytes, n, JSON.stringify(Array.from({ length: n }, (_, id) => ({ id, name: 'Customer ' + id, active: id % 3 === 0, balance: id * 1.25, tags: ['a', 'b'] }))).length);
}
process.kill(process.pid, 'SIGKILL');
