// Code mode over workers of one's own: node examples/extending/host.mjs
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createCodeMode, defineTool } from 'callgate';
import { streamChannel } from './stream-channel.mjs';

const WORKER = fileURLToPath(new URL('./worker.mjs', import.meta.url));

/** @type {import('callgate').WorkerSource} */
export const vmWorkers = {
  name: 'node:vm in a child process, over a stream',
  spawn() {
    const child = spawn(process.execPath, [WORKER], { stdio: ['ignore', 'ignore', 'inherit', 'pipe'] });
    const gone = new Promise((resolve) => child.on('close', resolve));
    const stream = /** @type {import('node:net').Socket} */ (child.stdio[3]);
    const channel = streamChannel(stream, async () => {
      child.ref();
      child.kill('SIGKILL');
      await gone;
    });
    // Workers keep the application alive only while a program waits for them.
    return Object.assign(channel, {
      ref() {
        child.ref();
        stream.ref();
      },
      unref() {
        child.unref();
        stream.unref();
      },
    });
  },
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const double = defineTool({
    name: 'double',
    description: 'Twice a number.',
    inputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
    execute: ({ n }) => n * 2,
  });
  const codeMode = createCodeMode({ tools: [double], isolation: vmWorkers });
  const { value, isolation } = await codeMode.run('return await tools.double({ n: 21 });');
  await codeMode.close();
  console.log(value, isolation);
}
