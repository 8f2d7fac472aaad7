// Code mode in an agent on the AI SDK: the model writes programs over the support desk. With a key of the gateway in AI_GATEWAY_API_KEY:
//   node examples/ai-sdk.mjs "Which plus customers got their parcel late?"
import { fileURLToPath } from 'node:url';
import { generateText, stepCountIs } from 'ai';
import { createCodeMode } from 'callgate';
import { aiTools } from 'callgate/ai-sdk';
import deskTools from './support-desk/tools.mjs';

/** @param {import('ai').LanguageModel} model @param {string} prompt */
export async function answer(model, prompt) {
  const codeMode = createCodeMode({ tools: deskTools });
  const session = await codeMode.openSession({ invocation: { actorId: 'agent-7' } });
  try {
    const tools = aiTools(session);
    return (await generateText({ model, system: session.instructions, prompt, tools, stopWhen: stepCountIs(20) })).text;
  } finally {
    await codeMode.close();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(await answer('anthropic/claude-sonnet-5-5', process.argv[2] ?? ''));
