// How a type checker's finding reads for a model: what is wrong in plain words, the nearest name, what to do. The checker's own words are the
// last resort. Not here: which findings are told (typecheck.ts).
import { shorten } from '../protocol/errors.ts';
import { nearest } from '../protocol/nearest.ts';
import { processAdvice } from './absent.ts';
import type { Finding, Scene, SyntaxNode } from './compiler.ts';
import { adviceFor } from './modules.ts';

/** A finding in words. */
export interface Words {
  readonly message: string;
  readonly hint?: string;
}

/** What the words may mention. */
export interface Mention extends Scene {
  readonly paths: readonly string[];
}

export function describeFinding(finding: Finding, mention: Mention): Words {
  const { message, hint } = wordsFor(finding, mention);
  return { message: shorten(message, 600), ...(hint === undefined ? {} : { hint }) };
}

/** Whether a promise is what does not fit. */
export function isAboutPromise(messages: readonly string[]): boolean {
  return messages.some((message) => /'Promise</.test(message));
}

function wordsFor(finding: Finding, mention: Mention): Words {
  const { code, messages } = finding;
  const [first = ''] = messages;
  const near = /Did you mean (?:to write |the (?:instance|static) member )?'([^']+)'\?/.exec(first)?.[1];
  const name = /^(?:Cannot find (?:name|namespace)|Property|No value exists in scope for the shorthand property) '(.+?)'/.exec(first)?.[1];
  const promise = isAboutPromise(messages);
  switch (code) {
    case 2339:
    case 2550:
    case 2551:
    case 2568:
    case 2576:
      return name === undefined ? plain(messages) : missingMember(name, { near, promise, mention, first });
    case 2348:
    case 2349:
    case 2351:
    case 6234:
      return promise ? unawaited('A promise is called as a function', mention) : notCallable(code, finding, mention);
    case 2448:
    case 2449:
    case 2450:
      return {
        message: first.replace(
          /^(?:Block-scoped variable|Class|Enum) '(.+?)' used before its declaration\.$/,
          '`$1` is used before it is declared.',
        ),
      };
    case 2588:
      return {
        message: first.replace(/^Cannot assign to '(.+?)' because it is a constant\.$/, '`$1` is a constant: it cannot be assigned again.'),
      };
    default:
  }
  if (name !== undefined && !first.startsWith('Property')) return missingName(name, near, mention);
  if (mention.tool !== undefined) return badArgument(finding, { near, promise, mention, tool: mention.tool });
  if (promise) return unawaited('A promise is used where its value is needed', mention);
  return plain(messages);
}

function missingName(name: string, near: string | undefined, { paths }: Mention): Words {
  const tools = paths.filter((path) => path === name || path.endsWith(`.${name}`)).map((path) => `tools.${path}`);
  const [meant] = tools.length > 0 ? tools : near === undefined ? nearest(name, paths, 1).map((path) => `tools.${path}`) : [near];
  const message = `There is no \`${name}\` here.`;
  const module = ABSENT[name];
  if (module !== undefined) return { message, hint: adviceFor(module) };
  return { message: meant === undefined ? message : `${message} Did you mean \`${meant}\`?` };
}

/** Globals of other worlds, by the module whose advice fits. */
const ABSENT: Readonly<Record<string, string>> = {
  fetch: 'undici',
  XMLHttpRequest: 'undici',
  WebSocket: 'ws',
  axios: 'axios',
  fs: 'fs',
  path: 'path',
  require: 'module',
  Deno: 'process',
  Bun: 'process',
  _: 'lodash',
};

interface MemberNotes {
  readonly near: string | undefined;
  readonly promise: boolean;
  readonly mention: Mention;
  readonly first: string;
}

function missingMember(name: string, { near, promise, mention, first }: MemberNotes): Words {
  const receiver = textOf(mention.receiver, mention);
  if (receiver === 'process') return { message: `There is no \`process.${name}\` here.`, hint: processAdvice(name) };
  if (promise) return unawaited(`\`${name}\` is read from a promise, not from what it gives`, mention, name);
  const namespace = /^(?:tools|codemode)((?:\.[\w$]+)*)$/.exec(receiver ?? '')?.[1];
  if (namespace !== undefined) {
    const wanted = (textOf(wholeChain(mention), mention) ?? `${receiver}.${name}`).replace(/^\w+\./, '');
    const meant = nearest(wanted, mention.paths, 3);
    // A namespace that is not there, when what follows is not near to anything.
    const prefix = namespace.slice(1) === '' ? '' : `${namespace.slice(1)}.`;
    const level = [
      ...new Set(mention.paths.filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length).split('.', 1)[0] ?? '')),
    ];
    const names = (meant.length > 0 ? meant : nearest(name, level, 3).map((near) => `${prefix}${near}`)).map((path) => `\`tools.${path}\``);
    const list = names.length > 1 ? `${names.slice(0, -1).join(', ')} or ${names.at(-1)}` : names[0];
    return {
      message: `There is no tool \`${wanted}\`.${list === undefined ? ' ALL_TOOLS lists the tools that there are.' : ` Did you mean ${list}?`}`,
    };
  }
  const type = / on type '(.*?)'\.(?: |$)/s.exec(first)?.[1];
  const owner = receiver === undefined || receiver.length > 60 ? `\`${shorten(type ?? 'this value', 200)}\`` : `\`${receiver}\``;
  // The type is only of use when no name is near, and when the receiver does not say it already.
  const told =
    near === undefined && type !== undefined && receiver !== undefined && type !== receiver ? `, which is \`${shorten(type, 200)}\`` : '';
  return { message: `There is no property \`${name}\` on ${owner}${told}.${near === undefined ? '' : ` Did you mean \`${near}\`?`}` };
}

/** `tools.a.b.c` around the name `b`. */
function wholeChain({ nodes, kindOf }: Mention): SyntaxNode | undefined {
  let chain: SyntaxNode | undefined;
  for (const node of nodes.slice(1)) {
    if (kindOf(node) !== 'PropertyAccessExpression') break;
    chain = node;
  }
  return chain;
}

function notCallable(code: number, { start }: Finding, mention: Mention): Words {
  const callee = textOf(wholeChain(mention) ?? mention.nodes[0], mention);
  const what = callee === undefined ? `\`${shorten(mention.code.slice(start, start + 40).split('\n')[0] ?? '', 40)}\`` : `\`${callee}\``;
  const namespace = /^(?:tools|codemode)\.?(.*)$/.exec(callee ?? '')?.[1];
  const inside =
    namespace === undefined ? [] : mention.paths.filter((path) => namespace === '' || path.startsWith(`${namespace}.`)).slice(0, 3);
  const hint = inside.length > 0 ? { hint: `Its tools are called by name, such as \`tools.${inside.join('`, `tools.')}\`.` } : {};
  return { message: `${what} is not a ${code === 2351 ? 'class' : 'function'}.`, ...hint };
}

interface ArgumentNotes {
  readonly near: string | undefined;
  readonly promise: boolean;
  readonly mention: Mention;
  readonly tool: SyntaxNode;
}

/** What a tool is given and does not take; the innermost message says it most precisely. */
function badArgument({ code, messages }: Finding, { near, promise, mention, tool }: ArgumentNotes): Words {
  const callee = textOf(tool, mention);
  const subject = callee === undefined || callee.length > 80 ? 'The tool' : `\`${callee}\``;
  if (promise) return unawaited(`${subject} is given a promise`, mention);
  for (const message of messages.toReversed()) {
    const missing = /Property '(.+?)' is missing in type/.exec(message)?.[1];
    if (missing !== undefined) return { message: `${subject} needs \`${missing}\` in its input.` };
    const several = /is missing the following properties from type '.*': (.*?)\.?$/s.exec(message)?.[1];
    if (several !== undefined)
      return {
        message: `${subject} needs in its input: ${several.replace(/\w+/g, (word) => (/^(?:and|more|\d+)$/.test(word) ? word : `\`${word}\``))}.`,
      };
    const extra = /known properties,? (?:and|but) '(.+?)' does not exist in type '(.*?)'\.(?: |$)/s.exec(message);
    if (extra !== null)
      return {
        message: `${subject} takes no \`${extra[1]}\`.${near === undefined ? ` Its input is \`${shorten(extra[2] ?? '', 300)}\`.` : ` Did you mean \`${near}\`?`}`,
      };
    const wrong = /^(?:Argument of type|Type) '(.*?)' is not assignable to (?:parameter of )?type '(.*?)'\.(?: |$)/s.exec(message);
    if (wrong !== null) {
      if (wrong[2] === 'never') return { message: `${subject} takes no properties: call it with \`{}\` or nothing.` };
      const property = propertyAt(mention);
      const suggestion = near === undefined ? '' : ` Did you mean \`${near}\`?`;
      return {
        message: `${subject}: ${property ?? 'its input'} should be \`${shorten(wrong[2] ?? '', 300)}\`, but is \`${shorten(wrong[1] ?? '', 200)}\`.${suggestion}`,
      };
    }
  }
  if (code === 2554 || code === 2555) {
    const given = Number(/but got (\d+)/.exec(messages[0] ?? '')?.[1] ?? 0);
    return {
      message:
        given === 0
          ? `${subject} needs an input: an object of its arguments by name.`
          : `${subject} takes one argument, an object of its arguments by name, but is given ${given}.`,
    };
  }
  const { message } = plain(messages);
  return { message: `${subject}: ${message}` };
}

/** The property of the input that the place belongs to, in words. */
function propertyAt(mention: Mention): string | undefined {
  let isItem = false;
  for (const node of mention.nodes) {
    const kind = mention.kindOf(node);
    if (kind === 'CallExpression') return undefined;
    if (kind === 'ArrayLiteralExpression') isItem = true;
    if (kind !== 'PropertyAssignment' && kind !== 'ShorthandPropertyAssignment') continue;
    const name = /^[\w$]+|^"[^"]*"|^'[^']*'/.exec(mention.code.slice(node.getStart(), node.end))?.[0];
    return name === undefined ? undefined : `${isItem ? 'an item of ' : ''}\`${name}\``;
  }
  return undefined;
}

/** `read` is the property that is wanted of the promise. */
function unawaited(what: string, { receiver, ...mention }: Mention, read?: string): Words {
  const call = textOf(receiver, mention);
  const fix = read !== undefined && call !== undefined && /\)$/.test(call) && call.length <= 60 ? `: \`(await ${call}).${read}\`` : '';
  return { message: `${what}.`, hint: `Put \`await\` before the call${fix}.` };
}

/** The checker's own words: the first and the innermost. */
function plain(messages: readonly string[]): Words {
  const [first = 'The types do not fit.'] = messages;
  const last = messages.at(-1);
  return { message: last === undefined || last === first ? first : `${first} ${last}` };
}

function textOf(node: SyntaxNode | undefined, { code }: Pick<Mention, 'code'>): string | undefined {
  return node === undefined ? undefined : code.slice(node.getStart(), node.end).replace(/\s+/g, ' ');
}
