// Keeps an event loop from falling asleep between two messages that follow each other closely. Waking a thread costs more than a whole
// call of a tool that answers at once; looking again a few times costs next to nothing, as long as nobody else wants the processor.
// Not here: the messages.

/** A pause shorter than this is worth staying awake for. */
const SHORT_MS = 0.15;

/** Whether one program has the machine to itself: set by the scheduler, looked at by both sides of every channel. */
export type Alone = Int32Array;

export function createAlone(): Alone {
  // Shared, since both sides must stop at once when a second program comes. It is a hint about speed: nothing depends on it.
  return new Int32Array(new SharedArrayBuffer(4));
}

/** Tells both sides how many programs there are. */
export function tellAlone(alone: Alone, programs: number): void {
  Atomics.store(alone, 0, programs === 1 ? 1 : 0);
}

/** One end of a conversation: tells it when a message came and when the last word was said. */
export interface Awake {
  heard(): void;
  said(): void;
}

/** Most words that follow a look in vain without another look. */
const MAX_PAUSE = 256;

/**
 * Stays awake after a word for as long as answers have lately come at once; a slow answer ends that until they are quick again. Looking in
 * vain may be why an answer is slow, where the other side waits for the very processor: so the next looks are put off, twice as long each time.
 */
export function stayAwake(alone: Alone): Awake {
  let saidAt = 0;
  let quick = false;
  let looking = false;
  let answered = true;
  let pause = 1;
  let toPass = 0;
  const look = (): void => {
    // The loop goes round without blocking as long as there is an immediate.
    looking = Atomics.load(alone, 0) === 1 && performance.now() - saidAt < SHORT_MS;
    if (looking) {
      setImmediate(look);
    } else if (!answered) {
      pause = Math.min(2 * pause, MAX_PAUSE);
      toPass = pause;
    }
  };
  return {
    heard() {
      quick = performance.now() - saidAt < SHORT_MS;
      answered = true;
      if (looking) pause = 1;
    },
    said() {
      saidAt = performance.now();
      answered = false;
      if (toPass > 0) toPass -= 1;
      else if (quick && !looking) look();
    },
  };
}
