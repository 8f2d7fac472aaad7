// `callgate chat`: question after question in one conversation, which keeps what was said and what programs stored. Ctrl-C ends the turn, or
// the conversation when nothing is going on. Not here: how a turn is shown (conversation.ts).
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { Conversation, type ConversationOptions } from './conversation.ts';
import { colorsFor, type Terminal } from './terminal.ts';

/** Talks until the input ends. Resolves to whether every question was answered, or a person was there to see which was not. */
export async function chat(options: ConversationOptions, terminal: Terminal): Promise<boolean> {
  const { stdin, stderr, signal } = terminal;
  const conversation = await Conversation.open(options, terminal, 'chat');
  const isTerminal = 'isTTY' in stdin && stdin.isTTY === true && stderr.isTTY === true;
  // Prompts and what is typed belong to standard error: standard output has the answers alone.
  const lines = createInterface({ input: stdin, ...(isTerminal && { output: writableOf(stderr), terminal: true }) });
  lines.setPrompt(isTerminal ? `${colorsFor(terminal).bold('you')} › ` : '');
  let turn: AbortController | undefined;
  const interrupt = (): void => (turn === undefined ? lines.close() : turn.abort(new Error('Interrupted.')));
  // In a terminal that readline reads key by key, Ctrl-C is a key; elsewhere it is a signal.
  lines.on('SIGINT', interrupt);
  const release = terminal.onInterrupt?.(interrupt);
  const onAbort = (): void => {
    turn?.abort(signal?.reason);
    lines.close();
  };
  signal?.addEventListener('abort', onAbort, { once: true });
  let allAnswered = true;
  let isOver = false;
  lines.once('close', () => {
    isOver = true;
  });
  // What was read before the input ended is still to come; asking for more is an error from then on.
  const prompt = (): void => {
    if (!isOver) lines.prompt();
  };
  try {
    prompt();
    for await (const line of lines) {
      const question = line.trim();
      if (question === '/exit') break;
      if (question !== '') {
        turn = new AbortController();
        allAnswered = (await conversation.say(question, turn.signal)) && allAnswered;
        if (turn.signal.aborted) stderr.write('(interrupted)\n');
        turn = undefined;
      }
      if (signal?.aborted === true) break;
      prompt();
    }
    return isTerminal || allAnswered;
  } finally {
    signal?.removeEventListener('abort', onAbort);
    release?.();
    lines.close();
    await conversation.close();
  }
}

function writableOf(output: Terminal['stderr']): Writable {
  if (output instanceof Writable) return output;
  return new Writable({
    write(chunk: Uint8Array | string, _encoding, done) {
      output.write(chunk.toString());
      done();
    },
  });
}
