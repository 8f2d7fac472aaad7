// `callgate ask`: one question, from the arguments or standard input, to its answer. Not here: how it is shown (conversation.ts).
import { addAbortSignal } from 'node:stream';
import { Conversation, type ConversationOptions } from './conversation.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage.ts';

/** Most bytes of a question. */
const PROMPT_BYTES = 1024 * 1024;

/** Asks, and resolves to whether there was an answer. `-` or nothing reads the question from standard input. */
export async function askOnce(words: readonly string[], options: ConversationOptions, terminal: Terminal): Promise<boolean> {
  // Before the question is read: what is missing should not wait for somebody who types it.
  const conversation = await Conversation.open(options, terminal, 'ask');
  try {
    const prompt = words.length === 0 || (words.length === 1 && words[0] === '-') ? await readPrompt(terminal) : words.join(' ');
    if (prompt.trim() === '') throw new UsageError('The question is empty; give it as an argument or on standard input.');
    return await conversation.say(prompt, terminal.signal);
  } finally {
    await conversation.close();
  }
}

async function readPrompt({ stdin, signal }: Terminal): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of signal === undefined ? stdin : addAbortSignal(signal, stdin)) {
      const buffer = Buffer.from(chunk as Uint8Array | string);
      chunks.push(buffer);
      bytes += buffer.length;
      if (bytes > PROMPT_BYTES) throw new UsageError(`The question on standard input is longer than ${PROMPT_BYTES} bytes.`);
    }
  } catch (error) {
    if (signal?.aborted === true) throw new UsageError('The question was not read to its end: interrupted.');
    throw error;
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new UsageError('The question on standard input is not text in UTF-8.');
  }
}
