// The tools of a session for those who translate them for an SDK: names, schemas, one-line signatures, and who has each. Not here: the
// controls (control-tools.ts), calling them (session.ts).
import type { Catalog, CatalogEntry } from '../tools/catalog.ts';
import { signatureOf } from '../tools/declarations.ts';
import type { JsonSchema } from '../tools/schema.ts';
import type { ToolAnnotations } from '../tools/tool.ts';
import { renderType } from '../tools/typescript.ts';

/** One tool of a session's run. */
export interface SessionTool {
  /** `github.list_issues`: its path in programs, without `tools.`; what `callTool` takes. */
  readonly path: string;
  /** The same as it was declared, for example `github.list-issues`. */
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly annotations?: ToolAnnotations;
  /** Who calls it: programs, or the conversation by itself (`except`). */
  readonly caller: 'program' | 'conversation';
  /** `tools.github.list_issues(input: { owner: string }): Promise<Issue[]>` */
  readonly signature: string;
  /** The TypeScript type of what it gives; `unknown` without an output schema. */
  readonly resultType: string;
}

/** All tools of a run; those that are not in `programs` stay in the conversation. */
export function sessionTools(everything: Catalog, programs: Catalog): readonly SessionTool[] {
  return Object.freeze(everything.entries.map((entry) => new LazyTool(entry, programs.find(entry.path) !== undefined)));
}

/** Signature and type are made when they are asked for: a session that no SDK translates does not pay for them. */
class LazyTool implements SessionTool {
  readonly #entry: CatalogEntry;
  readonly path: string;
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  declare readonly outputSchema?: JsonSchema;
  declare readonly annotations?: ToolAnnotations;
  readonly caller: 'program' | 'conversation';

  constructor(entry: CatalogEntry, isForPrograms: boolean) {
    const { tool, path, name } = entry;
    this.#entry = entry;
    this.path = path;
    this.name = name;
    this.description = tool.description;
    this.inputSchema = tool.inputSchema;
    if (tool.outputSchema !== undefined) this.outputSchema = tool.outputSchema;
    if (tool.annotations !== undefined) this.annotations = tool.annotations;
    this.caller = isForPrograms ? 'program' : 'conversation';
  }

  get signature(): string {
    return signatureOf(this.#entry);
  }

  get resultType(): string {
    return renderType(this.outputSchema ?? true, { depth: 6, values: 30 });
  }
}
