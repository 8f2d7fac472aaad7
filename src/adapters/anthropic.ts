// The public names of `callgate/anthropic`: code mode in an agent on the Anthropic SDK. The SDK is an optional peer of the package; what
// is here needs its types, and at run time only its error class. Not here: how it is done (anthropic/).
export { AskError, type AskEvent, type AskOptions, type AskResult, type AskStatus, type AskUsage, ask } from './anthropic/ask.ts';
export { type FromAnthropicToolsOptions, fromAnthropicTools } from './anthropic/from-tools.ts';
export { type CodeExecutionVersion, type ProgrammaticOptions, programmaticTools } from './anthropic/programmatic.ts';
export { anthropicTools } from './anthropic/tools.ts';
