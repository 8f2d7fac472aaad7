// The run's artifacts as a program sees them: `artifacts`, `readArtifact`, `saveArtifact`, `createArtifact`. Files go to the host in pieces,
// small appends together, so that a long file costs few requests. Not here: what the host makes of a request (src/session/artifact-functions.ts).
import { ARTIFACT_ASKS, type News, PIECE_LENGTH } from '../src/protocol/messages.ts';
import type { Calls } from './calls.ts';
import {
  ArrayPrototypeJoin,
  JSONParse,
  list,
  MathMin,
  ObjectCreate,
  ObjectDefineProperty,
  ObjectFreeze,
  PromiseConstructor,
  PromisePrototypeThen,
  StringPrototypeCharCodeAt,
  StringPrototypeSlice,
  TypedArrayPrototypeGetBuffer,
  TypedArrayPrototypeGetByteOffset,
  TypeErrorConstructor,
  Uint8ArrayConstructor,
} from './primordials.ts';
import { bytesOf } from './world/bytes.ts';
import { defineHidden, defineVisible } from './world/define.ts';

export interface Artifacts {
  /** Takes what the host tells beside an answer. */
  learn(news: News): void;
  /** Takes what the run has before the program starts: JSON of an array, or nothing. */
  begin(artifacts: string | undefined): void;
}

/** What the host says of one artifact; see src/artifacts/kept.ts. */
interface Descriptor {
  readonly id: string;
}

/** Defines the globals. */
export function createArtifacts(calls: Calls): Artifacts {
  const known = list<Descriptor>();
  const warnings = list<string>();
  let shown: object | undefined;
  let files = 0;

  function add(artifacts: readonly unknown[]): void {
    for (let i = 0; i < artifacts.length; i++) known[known.length] = ObjectFreeze(artifacts[i] as Descriptor);
    shown = undefined;
  }

  defineGetter('artifacts', () => {
    // A new list each time something is new, so that one that a program holds stays what it was.
    if (shown === undefined) {
      const all = copyOf(known);
      defineHidden(all, 'warnings', ObjectFreeze(copyOf(warnings)));
      shown = ObjectFreeze(all);
    }
    return shown;
  });

  defineHidden(globalThis, 'readArtifact', (id: unknown, options?: unknown) =>
    calls.ask(ARTIFACT_ASKS.read, options === undefined ? [id] : [id, options], 'readArtifact'),
  );

  defineHidden(globalThis, 'saveArtifact', (options: unknown) => {
    if (typeof options !== 'object' || options === null) return calls.ask(ARTIFACT_ASKS.save, [options], 'saveArtifact');
    const { data, name, mediaType } = options as { data?: unknown; name?: unknown; mediaType?: unknown };
    const bytes = bytesOf(data);
    const length = typeof data === 'string' ? data.length : bytes === undefined ? 0 : bytes.length;
    if (length <= PIECE_LENGTH) return calls.ask(ARTIFACT_ASKS.save, [options], 'saveArtifact', Infinity);
    const file = open(dropUndefined({ name, mediaType }), 'saveArtifact');
    void (bytes === undefined ? file.text(data as string) : file.bytes(bytes));
    return file.close();
  });

  defineHidden(globalThis, 'createArtifact', (options: unknown = {}) => {
    if (typeof options !== 'object' || options === null)
      throw new TypeErrorConstructor("createArtifact() takes an object such as { name: 'rows.csv', mediaType: 'text/csv' }.");
    const { name, mediaType } = options as { name?: unknown; mediaType?: unknown };
    const file = open(dropUndefined({ name, mediaType }), 'createArtifact');
    const handle = {};
    // One for all pieces that only wait here: a program may append a row at a time.
    const done = new PromiseConstructor((resolve: (value: unknown) => void) => resolve(undefined)) as Promise<unknown>;
    defineHidden(handle, 'append', (data: unknown): Promise<unknown> => {
      if (typeof data === 'string') return file.text(data) ?? done;
      const bytes = bytesOf(data);
      if (bytes !== undefined) return file.bytes(bytes) ?? done;
      return calls.refuse('append', {
        name: 'TypeError',
        code: 'input_invalid',
        message: `append(data) takes a string or bytes, not ${data === null ? 'null' : typeof data}; write JSON.stringify(data) for JSON.`,
      });
    });
    defineHidden(handle, 'close', () => file.close());
    return ObjectFreeze(handle);
  });

  /** A file in pieces. What the host refuses once, it refuses again when the file is closed. */
  function open(
    facts: object,
    owner: string,
  ): {
    text(data: string): Promise<unknown> | undefined;
    bytes(data: Uint8Array): Promise<unknown> | undefined;
    close(): Promise<unknown>;
  } {
    const file = ++files;
    const waiting = list<string>();
    let length = 0;

    function send(data: string | Uint8Array): Promise<unknown> {
      const promise = calls.ask(ARTIFACT_ASKS.append, [file, data, facts], owner === 'createArtifact' ? 'append' : owner, Infinity);
      // Whoever does not wait for it hears of a failure when the file is closed.
      void PromisePrototypeThen(promise, undefined, () => undefined);
      return promise;
    }

    /** Sends the text that waits; half a character at its end waits on. */
    function flush(): Promise<unknown> | undefined {
      const text = ArrayPrototypeJoin(waiting, '');
      waiting.length = 0;
      length = 0;
      let promise: Promise<unknown> | undefined;
      let from = 0;
      while (from < text.length) {
        let to = MathMin(from + PIECE_LENGTH, text.length);
        const last = StringPrototypeCharCodeAt(text, to - 1);
        if (last >= 0xd800 && last <= 0xdbff) to--;
        if (to === from) break;
        promise = send(StringPrototypeSlice(text, from, to));
        from = to;
      }
      if (from < text.length) {
        waiting[0] = StringPrototypeSlice(text, from);
        length = 1;
      }
      return promise;
    }

    return {
      text(data) {
        waiting[waiting.length] = data;
        length += data.length;
        return length < PIECE_LENGTH ? undefined : flush();
      },
      bytes(data) {
        void flush();
        let promise: Promise<unknown> | undefined;
        for (let from = 0; from < data.length; from += PIECE_LENGTH) {
          const offset = TypedArrayPrototypeGetByteOffset(data) + from;
          promise = send(new Uint8ArrayConstructor(TypedArrayPrototypeGetBuffer(data), offset, MathMin(PIECE_LENGTH, data.length - from)));
        }
        return promise;
      },
      close() {
        void flush();
        // Half a character that nothing followed.
        if (length > 0) void send(waiting[0] as string);
        waiting.length = length = 0;
        return calls.ask(ARTIFACT_ASKS.finish, [file, facts], owner === 'createArtifact' ? 'close' : owner);
      },
    };
  }

  return {
    learn({ artifacts, warnings: said }) {
      if (artifacts !== undefined) add(artifacts);
      if (said === undefined) return;
      for (let i = 0; i < said.length; i++) warnings[warnings.length] = said[i] as string;
      shown = undefined;
    },
    begin(artifacts) {
      if (artifacts !== undefined) add(JSONParse(artifacts) as unknown[]);
    },
  };
}

/** A real array, made without meeting what a program may have put on its prototype. */
function copyOf(items: readonly unknown[]): unknown[] {
  const copy: unknown[] = [];
  for (let i = 0; i < items.length; i++) defineVisible(copy, i, items[i]);
  return copy;
}

function dropUndefined(fields: { readonly name: unknown; readonly mediaType: unknown }): object {
  const kept = ObjectCreate(null) as Record<string, unknown>;
  if (fields.name !== undefined) kept['name'] = fields.name;
  if (fields.mediaType !== undefined) kept['mediaType'] = fields.mediaType;
  return kept;
}

/** Defines a global that is computed when it is read; a program may put its own in its place. */
function defineGetter(name: string, get: () => unknown): void {
  const descriptor = ObjectCreate(null) as PropertyDescriptor;
  descriptor.get = get;
  descriptor.set = (value: unknown) => defineHidden(globalThis, name, value);
  descriptor.configurable = true;
  descriptor.enumerable = false;
  ObjectDefineProperty(globalThis, name, descriptor);
}
