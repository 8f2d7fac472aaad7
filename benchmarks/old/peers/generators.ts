// What turns JSON Schemas into text for a model in other systems, each by its documented function at a pinned version, installed on demand like
// the peers of the first-try benchmark but apart from them, since one of these pulls in a formatter. Not a benchmark by itself.
import { register } from 'node:module';
import { createInstaller } from './install.ts';

/** A tool as a server lists it. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>>;
}

export interface TextGenerator {
  readonly name: string;
  generate(tools: readonly ListedTool[]): string | Promise<string>;
}

const GENERATOR_VERSIONS = {
  '@cloudflare/codemode': '0.5.6',
  '@tanstack/ai': '0.28.0',
  '@tanstack/ai-code-mode': '0.2.5',
  'json-schema-to-typescript': '16.0.0',
  zod: '4.3.6',
} as const;

/** Undefined when they could not be installed. */
export async function loadGenerators(): Promise<readonly TextGenerator[] | undefined> {
  const { install, load } = createInstaller('generators', GENERATOR_VERSIONS);
  if (!install()) return undefined;
  standInForWorkers();
  // The interfaces below are taken from the packages' declarations at the pinned versions.
  const { generateTypesFromJsonSchema } = (await load('@cloudflare/codemode')) as {
    generateTypesFromJsonSchema(tools: Readonly<Record<string, unknown>>): string;
  };
  const { generateTypeStubs } = (await load('@tanstack/ai-code-mode')) as {
    generateTypeStubs(bindings: Readonly<Record<string, unknown>>): string;
  };
  const { compile } = (await load('json-schema-to-typescript')) as {
    compile(schema: unknown, name: string, options: { readonly bannerComment: string; readonly format: boolean }): Promise<string>;
  };
  return [
    {
      name: 'json-schema-to-typescript',
      async generate(tools) {
        const texts: string[] = [];
        for (const { name, description, inputSchema, outputSchema } of tools) {
          const options = { bannerComment: '', format: false };
          // It changes what it is given, and it follows references, which nothing here may do.
          const typed = async (schema: unknown, type: string): Promise<string> => {
            try {
              return await compile(structuredClone(schema), type, options);
            } catch {
              return `export type ${type} = unknown;\n`;
            }
          };
          texts.push(await typed(inputSchema, `${name}_input`));
          if (outputSchema !== undefined) texts.push(await typed(outputSchema, `${name}_output`));
          const types = texts
            .slice(outputSchema === undefined ? -1 : -2)
            .map((text) => [...text.matchAll(/^export (?:type|interface) (\w+)/gm)][0]?.[1]);
          texts.push(`/** ${description} */\ndeclare function ${name}(input: ${types[0]}): Promise<${types[1] ?? 'unknown'}>;\n`);
        }
        return texts.join('');
      },
    },
    {
      name: '@cloudflare/codemode',
      generate: (tools) => generateTypesFromJsonSchema(Object.fromEntries(tools.map((tool) => [tool.name, tool]))),
    },
    {
      name: '@tanstack/ai-code-mode',
      generate: (tools) =>
        generateTypeStubs(Object.fromEntries(tools.map((tool) => [`external_${tool.name}`, { ...tool, name: `external_${tool.name}` }]))),
    },
  ];
}

/** `@cloudflare/codemode` imports classes of the Workers runtime beside what is used here; empty ones do. */
function standInForWorkers(): void {
  const classes = 'export class RpcTarget {} export class WorkerEntrypoint {} export class DurableObject {} export const env = {};';
  const hooks = `const url = ${JSON.stringify(`data:text/javascript,${encodeURIComponent(classes)}`)};
export const resolve = (specifier, context, next) => specifier.startsWith('cloudflare:') ? { url, shortCircuit: true } : next(specifier, context);`;
  register(`data:text/javascript,${encodeURIComponent(hooks)}`);
}
