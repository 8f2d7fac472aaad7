// A process of its own that stores artifacts in a directory that others use at the same time; prints what it found wrong. Started by
// test/artifacts/directory.test.ts.
import { readFile } from 'node:fs/promises';
import { directoryStore } from '../../dist/index.js';

const [directory = '', name = '', count = '0'] = process.argv.slice(2);
const store = directoryStore({ directory, keep: true });
const problems: string[] = [];
const paths: string[] = [];
await Promise.all(
  Array.from({ length: Number(count) }, async (_, index) => {
    const mine = `${name} ${index} ${'x'.repeat(index * 997)}`;
    const [own, shared] = await Promise.all([
      store.put({ data: Buffer.from(mine), mediaType: 'text/plain', name: 'out.txt' }),
      store.put({ data: Buffer.from('the same in every process'), mediaType: 'text/plain', name: 'out.txt' }),
    ]);
    if ((await readFile(own.path ?? '', 'utf8')) !== mine) problems.push(`${name} ${index}: another content`);
    if ((await store.read(own.key)).length !== mine.length) problems.push(`${name} ${index}: another length`);
    paths.push(own.path ?? '');
    if (index === 0) paths.push(shared.path ?? '');
    if (index % 2 === 1) {
      await store.release(own.key);
      paths.splice(paths.indexOf(own.path ?? ''), 1);
    }
  }),
);
await store.close();
process.stdout.write(JSON.stringify({ problems, paths }));
