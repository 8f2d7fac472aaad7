// What the parts of the world share, and how they ask the host's services. Nothing here defines a global.
import {
  ErrorConstructor,
  JSONParse,
  ObjectPrototypeHasOwnProperty,
  RangeErrorConstructor,
  SyntaxErrorConstructor,
  TypeErrorConstructor,
  URIErrorConstructor,
} from '../primordials.ts';
import type { WorldHost } from './host.ts';
import type { Inspector } from './inspect.ts';
import type { Timers } from './timers.ts';

/** What the parts of the world share. */
export interface WorldContext {
  readonly host: WorldHost;
  /** The current program's settings; replaced by `World.begin`. */
  readonly settings: { timeZone: string; locale: string; origin: number; epoch: number };
  readonly inspector: Inspector;
  readonly timers: Timers;
  /** Asks the host's service and gives its value; a refusal is thrown as the guest's own error. */
  ask(service: string, argument: string): unknown;
}

/** Builds `WorldContext.ask` for a host. */
export function createAsk(host: WorldHost): (service: string, argument: string) => unknown {
  return (service, argument) => {
    // The host's answer is an object with exactly one of two own keys.
    const answer = JSONParse(host.ask(service, argument)) as { value?: unknown; error?: { name: string; message: string } };
    if (!ObjectPrototypeHasOwnProperty(answer, 'error') || answer.error === undefined) return answer.value;
    const { name, message } = answer.error;
    if (name === 'RangeError') throw new RangeErrorConstructor(message);
    if (name === 'TypeError') throw new TypeErrorConstructor(message);
    if (name === 'SyntaxError') throw new SyntaxErrorConstructor(message);
    if (name === 'URIError') throw new URIErrorConstructor(message);
    throw new ErrorConstructor(message);
  };
}
