// Code mode in a host of one's own, with no SDK of ours: definitions for the model, and one function that carries out its calls.
//   node examples/functions.mjs
import { createCodeMode } from 'callgate';
import { functionTools } from 'callgate/functions';
import deskTools from './support-desk/tools.mjs';

const codeMode = createCodeMode({ tools: deskTools });
const session = await codeMode.openSession({ invocation: { actorId: 'agent-7' } });
const { chatTools, execute } = functionTools(session);

// What a request to the model would hold: session.instructions as its system prompt, and these.
console.log(chatTools().map((tool) => tool.function.name));

// What a model might answer: a call, with its arguments as JSON.
const call = {
  name: 'exec',
  arguments: JSON.stringify({ source: "const rows = await tools.find_customers({ plan: 'plus', limit: 1 }); return rows.total" }),
};
const { text, isError } = await execute(call.name, call.arguments);
console.log(isError ? `failed: ${text}` : text);

await session.close();
await codeMode.close();
