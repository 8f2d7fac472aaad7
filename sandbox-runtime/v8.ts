// The guest's runtime as the V8 driver enters it: one function for all entries, which is given and gives nothing but text. The same runtime
// as elsewhere (main.ts); here is only what isolated-vm wants otherwise. Not here: what V8 has too much (v8-prelude.ts).
import './v8-prelude.ts';
import boot from './main.ts';

/** The driver's functions: synchronous, over text. */
type Ask = (service: string, argument: string) => string;
type Tell = (text: string) => void;

/** What an entry does; `run` is given the program, the others a text. */
export type Operation = 'install' | 'begin' | 'receive' | 'drain' | 'run';
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
): Enter {
  const bridge = boot({
    ask: (service, argument) => ask(service, argument),
    say: (line) => say(line),
    bindExit,
    halt: () => halt(bridge.drain()),
  });
  return (operation, argument) => {
    if (operation === 'drain') tell(bridge.drain());
    else bridge[operation](argument);
  };
}
