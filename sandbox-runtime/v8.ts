// The guest's runtime as the V8 driver enters it: one function for all entries, which is given and gives nothing but text. The same runtime
// as elsewhere (main.ts); here is only what isolated-vm wants otherwise. Not here: what V8 has too much (v8-prelude.ts).
import './v8-prelude.ts';
import boot from './main.ts';
import { MathMin, ReflectApply, StringFromCharCode, Uint8ArrayConstructor } from './primordials.ts';
import { defineHidden } from './world/define.ts';

/** The driver's functions: synchronous, over text. */
type Ask = (service: string, argument: string) => string;
type Tell = (text: string) => void;

/** What an entry does; `run` is given the program, `take` a buffer, the others a text. */
export type Operation = 'install' | 'begin' | 'take' | 'receive' | 'drain' | 'run';
type Enter = (operation: Operation, argument: never) => void;

/**
 * Boots. What `drain` gives goes to `tell` and is not returned: a promise that was rejected meanwhile, which nobody handles, makes isolated-vm
 * throw away what an entry returns. `halt` ends the isolate, so that it is given the last lines before.
 */
export default function bootInIsolate(
  ask: Ask,
  say: Tell,
  tell: Tell,
  halt: Tell,
  bindExit: (exit: (value?: unknown) => never) => void,
  attach: Tell,
): Enter {
  const bridge = boot({
    ask: (service, argument) => ask(service, argument),
    say: (line) => say(line),
    attach: (buffer, offset, length) => attach(characters(buffer, offset, length)),
    bindExit,
    halt: () => halt(bridge.drain()),
  });
  return (operation, argument) => {
    if (operation === 'drain') tell(bridge.drain());
    else bridge[operation](argument);
  };
}

/** Characters that one call of `String.fromCharCode` makes: more are slower. */
const AT_ONCE = 4096;

/** Bytes as text, a character each, since a buffer cannot be handed out here. Empty for what a program has detached or shrunk since. */
function characters(buffer: ArrayBuffer, offset: number, length: number): string {
  let text = '';
  try {
    for (let from = 0; from < length; from += AT_ONCE) {
      const count = MathMin(AT_ONCE, length - from);
      const part = new Uint8ArrayConstructor(buffer, offset + from, count);
      // Its own: a program may have replaced the one that all typed arrays have, and would be asked for it.
      defineHidden(part, 'length', count);
      text += ReflectApply(StringFromCharCode, undefined, part as unknown as unknown[]) as string;
    }
  } catch {
    return '';
  }
  return text;
}
