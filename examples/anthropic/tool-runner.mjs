// Code mode in an agent that has its own loop on the SDK's tool runner: exec, wait and stop are three more tools. Needs ANTHROPIC_API_KEY.
import process from 'node:process';
import Anthropic from '@anthropic-ai/sdk';
import { createCodeMode } from 'callgate';
import { anthropicTools } from 'callgate/anthropic';
import tools from '../support-desk/tools.mjs';

const codeMode = createCodeMode({ tools });
const session = await codeMode.openSession({ invocation: { actorId: 'agent-7' } });
try {
  const message = await new Anthropic().beta.messages.toolRunner({
    model: 'claude-sonnet-5-5',
    max_tokens: 8192,
    system: session.instructions,
    tools: anthropicTools(session),
    messages: [{ role: 'user', content: process.argv[2] ?? 'How many customers are there?' }],
  });
  for (const block of message.content) if (block.type === 'text') process.stdout.write(`${block.text}\n`);
} finally {
  await session.close();
  await codeMode.close();
}
