// A web search in programs: the best page of three searches at once. With a key of Tavily:
//   TAVILY_API_KEY=… node examples/web-search.mjs
import { createCodeMode } from 'callgate';
import { webSearchTool } from 'callgate/tools';

const { TAVILY_API_KEY: apiKey, TAVILY_URL: endpoint } = process.env;
const codeMode = createCodeMode({ tools: webSearchTool({ apiKey, endpoint, maxResults: 3 }) });

const { value, error } = await codeMode.run(`
  const questions = ['QuickJS stack limit', 'WebAssembly memory maximum', 'isolated-vm advisory'];
  const found = await Promise.all(questions.map((query) => tools.web_search({ query })));
  return Object.fromEntries(questions.map((query, at) => [query, found[at].results[0]?.url ?? 'nothing']));
`);
console.log(error?.message ?? value);
await codeMode.close();
