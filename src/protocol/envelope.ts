// What a worker says of itself, read as untrusted: a process that a guest has broken out of its engine in may say anything. Every field is
// looked at, so that nothing beyond this point has to. Not here: what a guest says (decode.ts).
import type { ErrorKind } from './errors.ts';
import { LIMITS } from './limits.ts';
import { unseal, type WorkerEnvelope } from './messages.ts';

/** Longest string in an envelope; frames of long lines are the longest that are honest. */
const MOST_TEXT = 256 * 1024;
const MOST_LISTED = 10_000;

const KINDS: Readonly<Record<ErrorKind, true>> = {
  syntax: true,
  type: true,
  program: true,
  timeout: true,
  memory: true,
  limit: true,
  unserializable: true,
  deadlock: true,
  aborted: true,
  fault: true,
};

/** An envelope from a worker with its body. Throws for whatever is none. */
export function unsealWorker(text: string): { readonly envelope: WorkerEnvelope; readonly body: string } {
  const turn = PLAIN_TURN.exec(text);
  if (turn !== null) {
    const [head, id, cpuMs, peakBytes, fate] = turn;
    // One of the two, as the pattern says.
    const envelope = {
      type: 'turn',
      id: Number(id),
      cpuMs: Number(cpuMs),
      peakBytes: Number(peakBytes),
      fate: fate as 'live' | 'done',
    } as const;
    return { envelope, body: text.slice(head.length) };
  }
  const { envelope, body } = unseal<WorkerEnvelope>(text);
  if (!isEnvelope(envelope)) throw new Error('A worker sent what is no envelope.');
  return { envelope, body };
}

/** What `sealTurn` writes, and nearly all that workers say: read five times as fast as JSON, and nothing is left to check. */
const PLAIN_TURN = /^\{"type":"turn","id":(\d{1,15}),"cpuMs":(\d{1,12}(?:\.\d{1,3})?),"peakBytes":(\d{1,15}),"fate":"(live|done)"\}\n/;

type Fields = Readonly<Record<string, unknown>>;

function isEnvelope(value: unknown): boolean {
  if (!isRecord(value)) return false;
  switch (value['type']) {
    case 'turn':
      return isTurn(value);
    case 'output':
    case 'parked':
      return isWhole(value['id']);
    case 'ready':
      return isText(value['build']) && typeof value['parks'] === 'boolean';
    case 'diagnosis':
      return isWhole(value['id']) && isOptional(value['diagnosis'], isDiagnosis) && isListOf(value['places'], isPlace);
    default:
      return false;
  }
}

function isTurn(turn: Fields): boolean {
  return (
    isWhole(turn['id']) &&
    isAmount(turn['cpuMs']) &&
    isAmount(turn['peakBytes']) &&
    isOptional(turn['starved'], isTrue) &&
    isOptional(turn['spent'], isTrue) &&
    isOptional(turn['warnings'], (warnings) => isListOf(warnings, isWarning)) &&
    (turn['fate'] === 'live' || turn['fate'] === 'done' || (turn['fate'] === 'dead' && isDeath(turn)))
  );
}

function isDeath(turn: Fields): boolean {
  const { kind, limit, diagnosis } = turn;
  return (
    typeof kind === 'string' &&
    Object.hasOwn(KINDS, kind) &&
    isOptional(limit, (name) => typeof name === 'string' && Object.hasOwn(LIMITS, name)) &&
    isOptional(diagnosis, isDiagnosis)
  );
}

function isDiagnosis(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { name, message, stack, line, column, frame, hint } = value;
  return (
    isText(name) &&
    isText(message) &&
    isText(stack) &&
    isOptional(line, isWhole) &&
    isOptional(column, isWhole) &&
    isOptional(frame, isText) &&
    isOptional(hint, isText)
  );
}

function isWarning(value: unknown): boolean {
  return isRecord(value) && isText(value['message']) && isOptional(value['line'], isWhole) && isOptional(value['column'], isWhole);
}

function isPlace(value: unknown): boolean {
  return value === null || (isRecord(value) && isWhole(value['line']) && isWhole(value['column']));
}

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isListOf(value: unknown, isOne: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.length <= MOST_LISTED && value.every(isOne);
}

function isOptional(value: unknown, isIt: (value: unknown) => boolean): boolean {
  return value === undefined || isIt(value);
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.length <= MOST_TEXT;
}

function isWhole(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isAmount(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value < Number.POSITIVE_INFINITY;
}

function isTrue(value: unknown): boolean {
  return value === true;
}
