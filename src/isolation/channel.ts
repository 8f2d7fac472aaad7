// A string pipe to a worker, whatever it runs in; images travel beside the text, and so do bytes where the pipe carries them. linkedChannels() joins two ends in one
// thread, for inline isolation and for tests that play one side. Not here: what is said (src/protocol/messages.ts).

/** One end of the pipe. What is sent arrives in order, never synchronously. */
export interface Channel {
  /** Longest message in bytes, where there is such a limit. */
  readonly mostBytes?: number;
  send(text: string, image?: ArrayBuffer, beside?: readonly ArrayBuffer[]): void;
  /** Resolves when what was sent has left; `undefined` when it has. For work that can wait, where sending needs this thread to be free. */
  departure?(): Promise<void> | undefined;
  /** Whether `beside` arrives. Where it does not, bytes are base64 in the text. */
  readonly carriesBytes?: boolean;
  /** Whether the far side can be ended whatever it is doing: it has a thread or a process of its own. Only the far side asks. */
  readonly canBeEnded?: boolean;
  /** Set once, by whoever reads this end. */
  onMessage: (text: string, image?: ArrayBuffer, beside?: readonly ArrayBuffer[]) => void;
  /** The other side is gone and was not asked to go; `reason` is for the host's own trace. */
  onLost: (reason: unknown) => void;
  /** Ends the other side, whatever it is doing. Resolves when it is gone. */
  close(): Promise<void>;
}

/** Two ends of one pipe within a thread. */
export function linkedChannels(): [Channel, Channel] {
  let open = true;
  // Not queueMicrotask: what Node adds to each of those costs more than the promise.
  const now = Promise.resolve();
  const create = (other: () => Channel): Channel => ({
    carriesBytes: true,
    send(text, image, beside) {
      void now.then(() => {
        if (open) other().onMessage(text, image, beside);
      });
    },
    onMessage: () => undefined,
    onLost: () => undefined,
    async close() {
      open = false;
    },
  });
  const left: Channel = create(() => right);
  const right: Channel = create(() => left);
  return [left, right];
}
