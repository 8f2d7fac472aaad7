// What turns JSON Schemas into text for a model in other systems, each by its documented function. Not here: who runs programs (peers.ts).
import { register } from 'node:module';

/** A tool as a server lists it. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>>;
}

/** Gives the text of all tools. */
export type Generate = (tools: readonly ListedTool[]) => string | Promise<string>;

export interface Generator {
  /** As it is printed. */
  readonly name: string;
  /** What of the schemas its text has: all of it; all but what binds a value beyond its type; types, names and what is required. */
  readonly says: 'everything' | 'no bounds' | 'types';
  /** Loads it. An error says why it cannot run here. */
  open(): Promise<Generate>;
}

const jsonSchemaToTypescript: Generator = {
  name: 'json-schema-to-typescript',
  says: 'no bounds',
  async open() {
    const { compile } = await import('json-schema-to-typescript');
    // It changes what it is given, and it follows references, which nothing here may do.
    const typed = async (schema: Readonly<Record<string, unknown>>, type: string): Promise<string> => {
      try {
        return await compile(structuredClone(schema), type, { bannerComment: '', format: false });
      } catch {
        return `export type ${type} = unknown;\n`;
      }
    };
    const nameIn = (text: string): string | undefined => /^export (?:type|interface) (\w+)/m.exec(text)?.[1];
    return async (tools) => {
      const texts: string[] = [];
      for (const { name, description, inputSchema, outputSchema } of tools) {
        const input = await typed(inputSchema, `${name}_input`);
        const output = outputSchema === undefined ? '' : await typed(outputSchema, `${name}_output`);
        const signature = `declare function ${name}(input: ${nameIn(input)}): Promise<${nameIn(output) ?? 'unknown'}>;`;
        texts.push(input, output, `/** ${description} */\n${signature}\n`);
      }
      return texts.join('');
    };
  },
};

const cloudflare: Generator = {
  name: '@cloudflare/codemode',
  says: 'everything',
  async open() {
    standInForWorkers();
    const { generateTypesFromJsonSchema } = await import('@cloudflare/codemode');
    return (tools) => generateTypesFromJsonSchema(Object.fromEntries(tools.map((tool) => [tool.name, tool])));
  },
};

const tanstack: Generator = {
  name: '@tanstack/ai-code-mode',
  says: 'types',
  async open() {
    const { generateTypeStubs } = await import('@tanstack/ai-code-mode');
    const execute = async (): Promise<never> => {
      throw new Error('Nothing is called here.');
    };
    return (tools) => {
      const bindings = tools.map((tool) => ({ ...tool, name: `external_${tool.name}`, execute }));
      return generateTypeStubs(Object.fromEntries(bindings.map((binding) => [binding.name, binding])));
    };
  },
};

/** Its text of all tools is the texts of each that a client has registered; here they are asked for directly. */
const utcp: Generator = {
  name: '@utcp/code-mode',
  says: 'no bounds',
  async open() {
    const { CodeModeUtcpClient } = await import('@utcp/code-mode');
    return async (tools) => {
      // A client keeps the text of a name: another one for each time, so that a text is made and is that of the tool.
      const client = await CodeModeUtcpClient.create();
      const texts = tools.map(({ name, description, inputSchema: inputs, outputSchema: outputs = {} }) =>
        client.toolToTypeScriptInterface({
          name,
          description,
          inputs,
          outputs,
          tags: [],
          tool_call_template: { call_template_type: 'text' },
        }),
      );
      return texts.join('\n\n');
    };
  },
};

export const GENERATORS: readonly Generator[] = [jsonSchemaToTypescript, cloudflare, tanstack, utcp];

/** `@cloudflare/codemode` imports classes of the Workers runtime beside what is used here; empty ones do. */
function standInForWorkers(): void {
  const classes = 'export class RpcTarget {} export class WorkerEntrypoint {} export class DurableObject {} export const env = {};';
  const hooks = `const url = ${JSON.stringify(`data:text/javascript,${encodeURIComponent(classes)}`)};
export const resolve = (specifier, context, next) => specifier.startsWith('cloudflare:') ? { url, shortCircuit: true } : next(specifier, context);`;
  register(`data:text/javascript,${encodeURIComponent(hooks)}`);
}
