// What a worker says of itself is read, whichever way it was written, or refused.
import { expect, test } from 'vitest';
import { unsealWorker } from '../../src/protocol/envelope.ts';
import { seal, sealTurn, unseal } from '../../src/protocol/messages.ts';

test('a turn written by hand reads as the same turn', () => {
  for (const [cpuMs, kept] of [
    [0, 0],
    [0.0123, 0.012],
    [1e-9, 0],
    [12_345.6789, 12_345.679],
  ] as const) {
    const turn = { id: 7, cpuMs, peakBytes: 65_536, fate: 'live' } as const;
    const expected = { envelope: { type: 'turn', ...turn, cpuMs: kept }, body: 'call 1 0 P {}\nwake 5' };
    expect(unsealWorker(sealTurn(turn, expected.body))).toEqual(expected);
    expect(unsealWorker(seal({ type: 'turn', ...turn, cpuMs: kept }, expected.body))).toEqual(expected);
  }
});

test('`post` is the JSON of its envelope', () => {
  expect(unseal(seal({ type: 'post', id: 3 }, '[]'))).toEqual({ envelope: { type: 'post', id: 3 }, body: '[]' });
});

test.each([
  '{"type":"turn","id":-1,"cpuMs":0,"peakBytes":0,"fate":"live"}\n',
  '{"type":"turn","id":1,"cpuMs":-1,"peakBytes":0,"fate":"live"}\n',
  '{"type":"turn","id":1,"cpuMs":1e999,"peakBytes":0,"fate":"live"}\n',
  '{"type":"turn","id":1,"cpuMs":0,"peakBytes":0,"fate":"undead"}\n',
  '{"type":"turn","id":99999999999999999999,"cpuMs":0,"peakBytes":0,"fate":"done"}\n',
  '{"type":"turn","id":1,"cpuMs":0,"peakBytes":0,"fate":"dead"}\n',
  'call 1 0 P {}',
])('%s is refused', (text) => {
  expect(() => unsealWorker(text)).toThrow();
});
