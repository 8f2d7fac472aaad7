// One question to a model that has code mode over the support desk, from prompt to answer, streamed. Needs ANTHROPIC_API_KEY.
//
//   node examples/anthropic/ask.mjs "Which plus customers got their parcel late?"
import process from 'node:process';
import Anthropic from '@anthropic-ai/sdk';
import { createCodeMode } from 'callgate';
import { ask } from 'callgate/anthropic';
import tools from '../support-desk/tools.mjs';

const codeMode = createCodeMode({ tools });
const session = await codeMode.openSession({ invocation: { actorId: 'agent-7' } });
try {
  const result = await ask({
    client: new Anthropic(),
    model: 'claude-sonnet-5-5',
    session,
    prompt: process.argv[2] ?? 'How many customers are there?',
    onText: (text) => process.stdout.write(text),
  });
  process.stdout.write(`\n(${result.status} after ${result.turns} turns, ${result.usage.outputTokens} tokens)\n`);
} finally {
  await session.close();
  await codeMode.close();
}
