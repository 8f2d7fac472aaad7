// `declare const tools: {…}`: tools in their namespaces, each as text of its own, a name in a list, or one of a number. Not here: what a tool's text
// says (declarations.ts).

/** A tool and how it is shown. */
export interface OutlineItem {
  readonly segments: readonly string[];
  /** The segments as they were declared; where they differ, a member of that name stands beside. Default: no such member. */
  readonly spellings?: readonly string[];
  readonly form: 'declaration' | 'signature' | 'name' | 'count';
  /** The lines of a tool that is declared. */
  text(indent: number): string;
}

export interface OutlineOptions {
  /** Lines at the end of `tools`. */
  readonly more?: string;
  /** How a name that is no identifier is written. */
  quote?(name: string): string;
}

/** Well-formed TypeScript, whatever the items: those that are not declared stand in comments. */
export function outline(items: readonly OutlineItem[], { more = '', quote = (name) => name }: OutlineOptions = {}): string {
  const root: Namespace = { kind: 'namespace', members: new Map() };
  for (const item of items) place(root, item);
  const [named] = items.filter(({ form }) => form === 'name' || form === 'count');
  const members = membersOf(root, { indent: 2, quote });
  if (named === undefined) return `declare const tools: {\n${members}${more}};\n`;
  const only = onlyComment(members);
  if (only !== undefined) return `declare const tools: {}; // ${only}: ${hintFor(named)}\n`;
  return `// ${hintFor(named)}\ndeclare const tools: {\n${members}${more}};\n`;
}

interface Namespace {
  readonly kind: 'namespace';
  readonly members: Map<string, Member>;
}

interface Member {
  readonly spelling: string;
  readonly path: string;
  readonly is: Namespace | OutlineItem;
}

function place(root: Namespace, item: OutlineItem): void {
  let at = root;
  const last = item.segments.length - 1;
  item.segments.forEach((segment, depth) => {
    const spelling = item.spellings?.[depth] ?? segment;
    const path = `tools.${item.segments.slice(0, depth + 1).join('.')}`;
    const known = at.members.get(segment)?.is;
    if (depth === last) at.members.set(segment, { spelling, path, is: item });
    else if (known !== undefined && isNamespace(known)) at = known;
    else {
      const inner: Namespace = { kind: 'namespace', members: new Map() };
      at.members.set(segment, { spelling, path, is: inner });
      at = inner;
    }
  });
}

function isNamespace(member: Namespace | OutlineItem): member is Namespace {
  return 'kind' in member;
}

function membersOf(namespace: Namespace, { indent, quote }: { readonly indent: number; readonly quote: (name: string) => string }): string {
  const margin = ' '.repeat(indent);
  const names: string[] = [];
  let [text, counted] = ['', 0];
  for (const [segment, { spelling, path, is }] of namespace.members) {
    if (isNamespace(is)) {
      const inner = membersOf(is, { indent: indent + 2, quote });
      // A namespace of which nothing is shown but how much it holds.
      const only = [...is.members.values()].every((each) => !isNamespace(each.is) && each.is.form === 'count')
        ? onlyComment(inner)
        : undefined;
      text += only === undefined ? `${margin}${segment}: {\n${inner}${margin}};\n` : `${margin}${segment}: {}; // ${only}\n`;
    } else if (is.form === 'name') names.push(segment);
    else if (is.form === 'count') counted++;
    else text += is.text(indent);
    if (spelling !== segment) text += `${margin}${quote(spelling)}: typeof ${path};\n`;
  }
  const list = names.length === 0 ? '' : `${margin}// ${names.join(', ')}\n`;
  const isAll = counted === [...namespace.members.values()].filter(({ is }) => !isNamespace(is)).length;
  return `${text}${list}${counted === 0 ? '' : `${margin}// ${counted}${isAll ? '' : ' more'} tool${counted === 1 ? '' : 's'}\n`}`;
}

/** What a text of nothing but one comment says. */
function onlyComment(text: string): string | undefined {
  return /^ *\/\/ (.*)\n$/.exec(text)?.[1];
}

function hintFor({ form, segments }: OutlineItem): string {
  const find = 'searchTools("what to do") finds them';
  return form === 'count'
    ? `${find}, describeTool(name) shows one`
    : `describeTool("${segments.join('.')}") shows how to call one, ${find}`;
}
