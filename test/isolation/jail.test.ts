import { expect, test } from 'vitest';
import { scriptedEngine } from '../../src/adapters/scripted.ts';
import type { Channel } from '../../src/isolation/channel.ts';
import { serveJail } from '../../src/isolation/jail.ts';
import { seal } from '../../src/protocol/messages.ts';
import { startOptions } from '../helpers/realm.ts';

test('a worker tidies up after its last words have left, and takes the next program then', async () => {
  const events: string[] = [];
  let leave: (() => void) | undefined;
  const channel: Channel = {
    send: (text) => void events.push(`said ${(JSON.parse(text.slice(0, text.indexOf('\n'))) as { type: string }).type}`),
    departure: () =>
      events.includes('said turn')
        ? new Promise((resolve) => {
            leave = resolve;
          })
        : undefined,
    onMessage: () => undefined,
    onLost: () => undefined,
    close: async () => undefined,
  };
  const engine = scriptedEngine(['done P 1']);
  const open = engine.open.bind(engine);
  engine.open = async (memoryBytes) => {
    const realm = await open(memoryBytes);
    return { ...realm, start: (...start) => (events.push('start'), realm.start(...start)), reset: () => events.push('reset') > 0 };
  };
  serveJail(channel, engine, (error) => {
    throw error;
  });
  const start = (id: number): string => seal({ type: 'start', id, catalog: 'a', ...startOptions() }, 'return 1;');
  channel.onMessage(seal({ type: 'catalog', catalog: 'a' }, '{"tools":[],"globals":{},"functions":[]}'));
  channel.onMessage(start(1));
  channel.onMessage(start(2));
  await expect.poll(() => leave).toBeDefined();
  expect(events.filter((event) => event !== 'said ready')).toEqual(['start', 'said turn']);
  leave?.();
  await expect.poll(() => events.filter((event) => event !== 'said ready')).toEqual(['start', 'said turn', 'reset', 'start', 'said turn']);
});
