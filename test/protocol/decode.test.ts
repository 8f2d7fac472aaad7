import { describe, expect, test } from 'vitest';
import { decodeLines, decodeUntrusted, GuestProtocolError } from '../../src/protocol/decode.ts';
import { MESSAGE_LENGTH } from '../../src/protocol/errors.ts';

const read = (body: string): unknown[] => [...decodeLines(body)];

describe('lines that a guest may say', () => {
  test('each kind is read into its message, in order', () => {
    const error = { kind: 'program', name: 'TypeError', message: 'no', stack: 'at x', code: 'input_invalid', isError: true };
    const body = [
      'call 1 0 P {"a":1}',
      'call 2 17 T {"$":"NaN"}',
      'out log "a\\nb"',
      'dropped 3',
      'warn {"message":"m","stack":"s"}',
      'wake 250',
      `fail ${JSON.stringify(error)}`,
    ].join('\n');
    expect(read(body)).toEqual([
      { type: 'call', id: 1, index: 0, mode: 'P', text: '{"a":1}' },
      { type: 'call', id: 2, index: 17, mode: 'T', text: '{"$":"NaN"}' },
      { type: 'out', level: 'log', text: 'a\nb' },
      { type: 'dropped', count: 3 },
      { type: 'warn', message: 'm', stack: 's' },
      { type: 'wake', ms: 250 },
      { type: 'fail', error },
    ]);
    expect(read('done P 42')).toEqual([{ type: 'done', mode: 'P', text: '42' }]);
  });

  test('a turn without a word has no messages', () => {
    expect(read('')).toEqual([]);
  });

  test('only a line feed ends a line: other separators stay data', () => {
    expect(read('out text "\u2028done P 1\u2029\u0085"')).toEqual([{ type: 'out', level: 'text', text: '\u2028done P 1\u2029\u0085' }]);
  });

  test('a long message of an error is cut, whatever the guest has done', () => {
    const [message] = read(
      `fail ${JSON.stringify({ kind: 'program', name: 'N'.repeat(5000), message: 'm'.repeat(9000), stack: 's'.repeat(9000), isError: 1 })}`,
    ) as [{ error: { name: string; message: string; stack: string; isError: boolean } }];
    expect(message.error.name.length).toBeLessThanOrEqual(200);
    expect(message.error.message.length).toBeLessThanOrEqual(MESSAGE_LENGTH);
    expect(message.error.stack.length).toBeLessThanOrEqual(8192);
    expect(message.error.isError).toBe(false);
  });
});

describe('lines that only a broken guest says', () => {
  const deep = '['.repeat(5_000_000);
  test.each([
    ['an unknown kind', 'grant secret'],
    ['a kind in another case', 'Call 1 0 P {}'],
    ['an empty line', '\n'],
    ['an empty line at the end', 'dropped 1\n'],
    ['a space in front', ' call 1 0 P {}'],
    ['the name of a method', 'constructor 1'],
    ['a carriage return', 'dropped 1\r'],
    ['a call without its parts', 'call'],
    ['a call without an index', 'call 1 P {}'],
    ['a negative id', 'call -1 0 P {}'],
    ['a fractional index', 'call 1 0.5 P {}'],
    ['an index with an exponent', 'call 1 1e3 P {}'],
    ['an id beyond what a number holds', 'call 9007199254740993000 0 P {}'],
    ['digits of another script', 'call \u0661 0 P {}'],
    ['an unknown way of writing values', 'call 1 0 X {}'],
    ['a value without its way of writing', 'done 42'],
    ['output to nowhere', 'out stderr "x"'],
    ['output to a name of objects', 'out __proto__ "x"'],
    ['output that is no string', 'out log 5'],
    ['output that is no JSON', 'out log "x'],
    ['output that is very deep', `out log ${deep}`],
    ['a count that is none', 'dropped many'],
    ['a count that is very long', `dropped ${'9'.repeat(100_000)}`],
    ['a time that is none', 'wake soon'],
    ['a time before now', 'wake -5'],
    ['a warning without a stack', 'warn {"message":"m"}'],
    ['a warning that is null', 'warn null'],
    ['a warning that is very deep', `warn ${deep}`],
    ['an error that is a string', 'fail "x"'],
    ['an error that is null', 'fail null'],
    ['an error of an unknown kind', 'fail {"kind":"fault","name":"","message":"","stack":""}'],
    ['an error whose kind is a list', 'fail {"kind":["program"],"name":"","message":"","stack":""}'],
    ['an error without a stack', 'fail {"kind":"program","name":"","message":""}'],
    ['an error whose message is an object', 'fail {"kind":"program","name":"","message":{},"stack":""}'],
    ['an error that is far too long', `fail {"kind":"program","name":"","message":"${'m'.repeat(200_000)}","stack":""}`],
    ['an error that is undefined', 'fail undefined'],
    ['a word after its end', 'done P 1\nout log "x"'],
    ['a second end', 'done P 1\ndone P 2'],
    ['an end after a failure', 'fail {"kind":"program","name":"","message":"","stack":""}\ndone P 2'],
  ])('%s is a breach of the conversation', (_name, body) => {
    expect(() => read(body)).toThrow(GuestProtocolError);
  });

  test('what came before the breach has been read: it was said', () => {
    const messages: unknown[] = [];
    expect(() => {
      for (const message of decodeLines('dropped 1\nnonsense')) messages.push(message);
    }).toThrow(GuestProtocolError);
    expect(messages).toEqual([{ type: 'dropped', count: 1 }]);
  });
});

describe('bytes beside a turn', () => {
  const buffers = [1, 2, 3].map((length) => new ArrayBuffer(length));

  test('are handed out in the order of the lines', () => {
    const messages = [...decodeLines('call 1 0 T2 {"a":1}\nask 2 name P [1]\ndone T1 null', buffers)];
    expect(messages).toEqual([
      { type: 'call', id: 1, index: 0, mode: 'T', text: '{"a":1}', beside: [buffers[0], buffers[1]] },
      { type: 'ask', id: 2, name: 'name', mode: 'P', text: '[1]' },
      { type: 'done', mode: 'T', text: 'null', beside: [buffers[2]] },
    ]);
  });

  test.each([
    'call 1 0 T4 {}',
    'done T1 1',
    'call 1 0 T-1 {}',
    'call 1 0 T1e9 {}',
    'call 1 0 X1 {}',
    'store "k" T1 1',
    'done T99999999999999 1',
  ])('a guest that names others than it sent breaks the rules: %s', (line) => {
    expect(() => [...decodeLines(line, line.startsWith('done') ? [] : buffers)]).toThrow(GuestProtocolError);
  });

  test('a tag that names none of them is no value', () => {
    for (const v of ['1', '-1', '0.5', '"x"', '9e99'])
      expect(() => decodeUntrusted({ mode: 'T', text: `{"$":"Uint8Array","v":${v}}`, beside: [new ArrayBuffer(1)] })).toThrow(
        GuestProtocolError,
      );
    expect(() => decodeUntrusted({ mode: 'T', text: '{"$":"Float64Array","v":0}', beside: [new ArrayBuffer(9)] })).toThrow(
      GuestProtocolError,
    );
    expect(decodeUntrusted({ mode: 'T', text: '{"$":"Uint8Array","v":0}', beside: [new ArrayBuffer(1)] })).toEqual(new Uint8Array(1));
  });
});
