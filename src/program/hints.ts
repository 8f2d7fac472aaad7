// The usual way out of the usual mistakes: what a program did, read from its error's words and from the text around the place.
// A hint never changes what happens, so it may guess; it says so by its words. Not here: syntax (explain.ts).
import type { GuestError } from '../protocol/messages.ts';
import { nearest } from '../protocol/nearest.ts';
import { processAdvice } from './absent.ts';
import { adviceFor } from './modules.ts';
import type { Position } from './program.ts';

export interface HintQuestion {
  readonly error: GuestError;
  readonly source: string;
  readonly position: Position | undefined;
  readonly tools: readonly { readonly path: string; readonly description: string }[];
}

/** What the rules look at. */
interface Clues {
  readonly kind: GuestError['kind'];
  readonly name: string;
  readonly code: string | undefined;
  readonly message: string;
  readonly source: string;
  /** The line of the place, cut around its column. */
  readonly line: string;
  /** Offset of the place in `line`. */
  readonly at: number;
  readonly tools: HintQuestion['tools'];
}

/** A hint for an error, when it is one that programs often make. */
export function hintFor({ error, source, position, tools }: HintQuestion): string | undefined {
  const whole = position ? (source.split(/\r\n|\r|\n/, position.line)[position.line - 1] ?? '') : '';
  const from = position ? Math.max(0, position.column - 200) : 0;
  const clues: Clues = {
    kind: error.kind,
    name: error.name,
    code: error.code,
    message: error.message.slice(0, 2_000),
    source: source.slice(0, 200_000),
    line: whole.slice(from, from + 400),
    at: position ? position.column - 1 - from : 0,
    tools,
  };
  for (const rule of RULES) {
    const hint = rule(clues);
    if (hint !== undefined) return hint;
  }
  return undefined;
}

type Rule = (clues: Clues) => string | undefined;

/** First the host's own words about a call or a value, then the engine's about the program. */
const RULES: readonly Rule[] = [
  failedCall,
  unserializable,
  unknownIdentifier,
  unavailable,
  forgottenAwait,
  unwrappedContent,
  parsedTwice,
  notFunction,
  notIterable,
  missingProperty,
  constant,
  uninitialized,
  invalidDate,
  bigInt,
  circular,
  overflow,
  builtIn,
  thrownPlain,
];

function failedCall({ code, tools, message }: Clues): string | undefined {
  switch (code) {
    case 'input_invalid':
      return 'Correct the argument as the message says. A tool takes one object: `await tools.name({ key: value })`; `ALL_TOOLS` has each signature.';
    case 'tool_unknown': {
      const wrong = /[`"']?(?:tools\.)?([\w$.-]+)[`"']?/.exec(message.replace(/^.*?(?:tools\.|[`"'])/, ''))?.[1];
      if (wrong !== undefined && DISPATCHERS.has(wrong)) return BY_NAME;
      const near = wrong ? nearestTools(wrong, tools) : [];
      return near.length > 0 && !message.includes(near[0] ?? '') ? `Did you mean ${list(near.map((path) => `tools.${path}`))}?` : undefined;
    }
    case 'call_refused':
      return 'The call was not allowed; asking again with the same argument will not help. Go on without it, or say that it was refused.';
    case 'tool_timeout':
      return 'Ask for less in one call, or catch the error and go on.';
    default:
      return undefined;
  }
}

/** How other systems call a tool whose name is a text. */
const DISPATCHERS: ReadonlySet<string> = new Set(['invoke', 'run', 'execute', 'callTool', 'call_tool', 'invokeTool', 'use', 'get']);
const BY_NAME = 'Call a tool by its name, as `await tools.<name>({ … })`; when the name is a text, as `await tools.call(name, { … })`.';

function unserializable({ kind, name, message }: Clues): string | undefined {
  if (kind !== 'unserializable' && name !== 'UnserializableError') return undefined;
  if (/Nothing is left/.test(message)) return 'Look for a promise whose resolve function is never called.';
  if (/promise/i.test(message))
    return 'A promise is in the returned value: put `await` before the call, or `await Promise.all([…])` around several.';
  if (/function/i.test(message)) return 'Return data, not functions: call the function, and return what it gives.';
  if (/circular|cycle/i.test(message)) return 'The value contains itself: return only the fields that you need.';
  return 'Return plain data: objects, arrays, strings, numbers, booleans and null; leave out or convert the value at this path.';
}

function unknownIdentifier({ message, tools, source, line, at }: Clues): string | undefined {
  const name = /^['"`]?([\p{ID_Start}$_][\p{ID_Continue}$]*)['"`]? is not defined/u.exec(message)?.[1];
  if (name === undefined) return undefined;
  if (name === 'process') return processAdvice(/^process\s*\??\.\s*(\w+)/.exec(line.slice(Math.max(0, at)))?.[1] ?? '');
  const paths = tools.map(({ path }) => path);
  if (paths.some((path) => path === name || path.startsWith(`${name}.`)))
    return `Tools are reached through \`tools\`: write \`tools.${name}\`.`;
  const bare = paths.filter((path) => path.endsWith(`.${name}`) || path.replaceAll('.', '_') === name);
  if (bare.length > 0)
    return `Tools are reached through \`tools\`: write ${list(
      bare.map((path) => `tools.${path}`),
      'or',
    )}.`;
  const declared = new Set(
    source.slice(0, 50_000).match(/(?<=\b(?:const|let|var|function|class)\s+)[\p{ID_Start}$_][\p{ID_Continue}$]*/gu) ?? [],
  );
  declared.delete(name);
  // Any letter is near to any other.
  const candidates = name.length < 3 ? [] : [...declared, ...GLOBALS];
  const known = UNAVAILABLE[name];
  if (known !== undefined) {
    const meant = name.length < 3 ? [] : nearest(name, [...declared], 1);
    return `${advice(known, tools)}${meant.length > 0 ? ` Or did you mean ${list(meant)}?` : ''}`;
  }
  const near = nearest(name, candidates).filter((candidate) => candidate !== name);
  if (near.length > 0) return `Did you mean ${list(near, 'or')}?`;
  const asTool = nearestTools(name, tools);
  return asTool.length > 0
    ? `If a tool is meant, write ${list(
        asTool.map((path) => `tools.${path}`),
        'or',
      )}.`
    : undefined;
}

/** What programs reach for and is not there. The values name advice, or say it. */
const UNAVAILABLE: Readonly<Record<string, string>> = {
  fetch: 'network',
  axios: 'network',
  XMLHttpRequest: 'network',
  WebSocket: 'network',
  EventSource: 'network',
  http: 'network',
  https: 'network',
  request: 'network',
  got: 'network',
  $: 'network',
  fs: 'files',
  readFile: 'files',
  readFileSync: 'files',
  writeFile: 'files',
  path: 'files',
  open: 'files',
  Deno: 'files',
  Bun: 'files',
  __dirname: 'files',
  __filename: 'files',
  require: 'There are no modules here: use what JavaScript has built in, and the tools as `tools.<name>(…)`.',
  module: 'A program is not a module: end it with `return value`.',
  exports: 'A program is not a module: end it with `return value`.',
  global: 'Write `globalThis`.',
  window: 'There is no browser here: work with data, and keep values with `store(key, value)` and `load(key)`.',
  self: 'Write `globalThis`.',
  document: 'There is no page here: work with data; parse HTML with string methods or a tool.',
  localStorage: 'Keep values with `store(key, value)` and read them with `load(key)`.',
  sessionStorage: 'Keep values with `store(key, value)` and read them with `load(key)`.',
  navigator: 'There is no browser here: work with data and the tools.',
  alert: 'Nobody is watching: write with `console.log(…)` or `text(…)`, and return the value.',
  prompt: 'Nobody can be asked while a program runs: return the question as the value.',
  confirm: 'Nobody can be asked while a program runs: return the question as the value.',
  print: 'Write with `console.log(…)`.',
  None: 'Write `null`.',
  True: 'Write `true`.',
  False: 'Write `false`.',
  nil: 'Write `null`.',
  len: 'Write `value.length`.',
  str: 'Write `String(value)`.',
  range: 'Write `for (let i = 0; i < n; i++)`, or `Array.from({ length: n }, (_, i) => i)`.',
  _: 'There is no lodash here: use the methods of arrays and objects.',
  moment: 'Use `Date` and `Intl.DateTimeFormat`.',
  dayjs: 'Use `Date` and `Intl.DateTimeFormat`.',
  React: 'There is no page here: return data.',
  jQuery: 'There is no page here: work with data; parse HTML with string methods or a tool.',
  cheerio: 'There is no page here: work with data; parse HTML with string methods or a tool.',
  DOMParser: 'There is no page here: parse HTML or XML with string methods or a tool.',
  Request: 'network',
  Response: 'network',
  Headers: 'network',
  FormData: 'network',
  requests: 'network',
  urllib: 'network',
  Blob: 'There are no blobs here: keep text as strings, and bytes as `Uint8Array` or `Buffer`.',
  File: 'files',
  Worker: 'There are no threads here: run calls at once with `Promise.all`.',
  WebAssembly: 'There is no WebAssembly here: write it in JavaScript.',
  SharedArrayBuffer: 'There is no shared memory here: use `ArrayBuffer`.',
  Atomics: 'There is no shared memory here: a program runs alone.',
  importScripts: 'There are no modules here: put what you need into the program itself.',
  os: 'There is no operating system to ask here: values come from the tools, or are written into the program.',
  sys: 'There is no operating system to ask here: values come from the tools, or are written into the program.',
  input: 'Nobody can be asked while a program runs: return the question as the value.',
  readline: 'Nobody can be asked while a program runs: return the question as the value.',
  child_process: 'There are no processes here: use the tools.',
  exec: 'There are no processes here: use the tools.',
  subprocess: 'There are no processes here: use the tools.',
  util: 'There are no modules here: `console.log` prints objects in full, and `structuredClone` copies them.',
  uuid: 'Write `crypto.randomUUID()`.',
  uuidv4: 'Write `crypto.randomUUID()`.',
  nanoid: 'Write `crypto.randomUUID()`.',
  delay: 'Write `await sleep(ms)`.',
  wait: 'Write `await sleep(ms)`.',
  log: 'Write with `console.log(…)`.',
  assert: 'Write `if (!condition) throw new Error(…)`, or `console.assert(condition, …)`.',
  expect: 'There is no test runner here: compare the values and return what you find.',
  describe: 'There is no test runner here: compare the values and return what you find.',
  z: 'There is no zod here: check values with plain code; the inputs of tools are checked for you.',
  Exception: 'Write `throw new Error(message)`.',
  ValueError: 'Write `throw new Error(message)`, or `new RangeError(message)`.',
  KeyError: 'Write `throw new Error(message)`.',
  RuntimeError: 'Write `throw new Error(message)`.',
  int: 'Write `Math.trunc(Number(value))`.',
  float: 'Write `Number(value)`.',
  dict: 'Write `{ key: value }`, or `Object.fromEntries(pairs)`.',
  list: 'Write `[a, b]`, or `Array.from(values)`.',
  sorted: 'Write `list.toSorted((a, b) => …)`.',
  enumerate: 'Write `for (const [index, item] of list.entries())`.',
  zip: 'Write `a.map((item, index) => [item, b[index]])`.',
  sum: 'Write `list.reduce((total, item) => total + item, 0)`.',
  min: 'Write `Math.min(...list)`.',
  max: 'Write `Math.max(...list)`.',
  json: 'Write `JSON.parse(text)` and `JSON.stringify(value)`.',
  asyncio: 'Write `await`, and `await Promise.all([…])` for several at once.',
  datetime: 'Use `Date` and `Intl.DateTimeFormat`.',
  callTool: BY_NAME,
  call_tool: BY_NAME,
  use_tool: BY_NAME,
  useTool: BY_NAME,
  invoke: BY_NAME,
  executeTool: BY_NAME,
  mcp: BY_NAME,
  client: BY_NAME,
};

const GLOBALS: readonly string[] = (
  'tools codemode ALL_TOOLS console text exit store load sleep JSON Math Object Array String Number Boolean Promise Date Map Set Intl URL URLSearchParams ' +
  'TextEncoder TextDecoder structuredClone setTimeout setInterval clearTimeout parseInt parseFloat isNaN encodeURIComponent decodeURIComponent crypto ' +
  'performance undefined Error TypeError RegExp Symbol BigInt Buffer atob btoa globalThis AbortController'
).split(' ');

function advice(known: string, tools: HintQuestion['tools']): string {
  if (known === 'network')
    return `There is no network here${suggestion(tools, /\b(?:fetch|https?|urls?|web|websites?|download|scrape|browse|crawl|page|request)\b/i)}`;
  if (known === 'files')
    return `There is no file system here${suggestion(tools, /\b(?:files?|read|write|documents?|folders?|director(?:y|ies)|storage|drive)\b/i)}`;
  return known;
}

function suggestion(tools: HintQuestion['tools'], pattern: RegExp): string {
  const words = (text: string): string => text.replace(/[_.-]/g, ' ').replace(/([a-z])([A-Z])/g, '$1 $2');
  const byName = tools.filter(({ path }) => pattern.test(words(path)));
  const found = [...byName, ...tools.filter((tool) => !byName.includes(tool) && pattern.test(words(tool.description.slice(0, 300))))].slice(
    0,
    3,
  );
  return found.length === 0
    ? ': use the tools, as `await tools.<name>({ … })`.'
    : `: use ${list(
        found.map(({ path }) => `tools.${path}`),
        'or',
      )}.`;
}

/** What cannot be loaded: the message says so; a tool that does the same is worth a hint. */
function unavailable({ message, tools }: Clues): string | undefined {
  if (/^`fetch` is not available here/.test(message)) return advice('network', tools);
  const ours = /^`(?:import\(\)|require)` is not available here: "([^"]+)"/.exec(message)?.[1];
  const module =
    ours ??
    /(?:cannot find (?:module|package)|could not load module|failed to resolve module|import(?:ing)?) ['"`]([^'"`]+)['"`]/i.exec(
      message,
    )?.[1];
  if (module === undefined) return undefined;
  const said = adviceFor(module);
  if (/^There is no network/.test(said)) return advice('network', tools);
  if (/^There is no file system/.test(said)) return advice('files', tools);
  return ours === undefined ? said : undefined;
}

const TOOL_CALL = String.raw`(?:tools|codemode)(?:\??\.[\w$]+|\[[^\]\n]{1,80}\])+`;

/** A value that came from a call without `await`, or a property read from the promise of one. */
function forgottenAwait({ message, source, line, at }: Clues): string | undefined {
  if (!/undefined|not a function|not iterable|is not an? |promise/i.test(message)) return undefined;
  const direct = new RegExp(
    String.raw`(?<!await\s{1,4})(?<![\w$.])(${TOOL_CALL})\([^()\n]*\)\s*\??\.\s*(?!then\b|catch\b|finally\b)([\w$]+)`,
  ).exec(line);
  if (direct) return `\`${direct[1]}(…)\` gives a promise: write \`(await ${direct[1]}(…)).${direct[2]}\`.`;
  for (const name of namesAt(line, at)) {
    const word = name.replace(/\$/g, '\\$');
    const own = ownPromise(word, { source, line });
    if (own !== undefined) return own;
    const declared = new RegExp(String.raw`\b(?:const|let|var)\s+${word}\s*(?::[^=\n]+)?=\s*(${TOOL_CALL})\s*\(`).exec(source);
    if (declared) return `\`${name}\` is a promise, since \`${declared[1]}(…)\` was not awaited: write \`await ${declared[1]}(…)\`.`;
    const taken = new RegExp(
      String.raw`\b(?:const|let|var)\s+[{[][^}\]\n]*(?<![\w$])${word}(?![\w$])[^}\]\n]*[}\]]\s*=\s*(${TOOL_CALL})\s*\(`,
    ).exec(source);
    if (taken) return `\`${name}\` was taken from a promise, since \`${taken[1]}(…)\` was not awaited: write \`await ${taken[1]}(…)\`.`;
    const mapped = new RegExp(String.raw`\b(?:const|let|var)\s+${word}\s*=\s*[^;\n]*\.map\(\s*async\b`).exec(source);
    if (mapped && !/await\s+Promise\./.test(mapped[0]))
      return `\`${name}\` holds promises, since the callback of \`map\` is async: write \`await Promise.all(….map(async …))\`.`;
  }
  const looped = new RegExp(String.raw`\bof\s+(${TOOL_CALL})\s*\(`).exec(line);
  if (looped && /iterable/i.test(message)) return `\`${looped[1]}(…)\` gives a promise: write \`for (const x of await ${looped[1]}(…))\`.`;
  const spread = new RegExp(String.raw`\.\.\.\s*(${TOOL_CALL})\s*\(`).exec(line);
  if (spread && /iterable/i.test(message)) return `\`${spread[1]}(…)\` gives a promise: write \`...(await ${spread[1]}(…))\`.`;
  const unawaited = /^`([^`]+)` was called without `await`/.exec(message)?.[1];
  if (unawaited !== undefined) return `Put \`await\` before the call: \`await tools.${unawaited}(…)\`.`;
  return /^A promise is used as/.test(message)
    ? 'Put `await` before the call that gives it; for a list of promises, write `await Promise.all(list)`.'
    : undefined;
}

/** The promise of an async function of the program's own: `name(…).field`, or a variable that holds what `name(…)` gave. */
function ownPromise(word: string, { source, line }: Pick<Clues, 'source' | 'line'>): string | undefined {
  const isAsync = (name: string): boolean => new RegExp(String.raw`\basync\s+function\s+${name}\b|\b${name}\s*=\s*async\b`).test(source);
  if (isAsync(word) && new RegExp(String.raw`(?<!await\s{1,4})(?<![\w$.])${word}\([^()\n]*\)\s*\??[.[]`).test(line))
    return `\`${word}(…)\` gives a promise: write \`(await ${word}(…))\` before what is read from it.`;
  const maker = new RegExp(String.raw`\b(?:const|let|var)\s+${word}\s*(?::[^=\n]+)?=\s*([A-Za-z_][\w]*)\s*\(`).exec(source)?.[1];
  return maker !== undefined && isAsync(maker)
    ? `\`${word}\` is a promise, since \`${maker}(…)\` was not awaited: write \`await ${maker}(…)\`.`
    : undefined;
}

/** Names in the line, those nearest to the place first. */
function namesAt(line: string, at: number): string[] {
  const found = [...line.matchAll(/(?<![\w$.'"])[A-Za-z_$][\w$]*/g)].filter(([name]) => !KEYWORDS.has(name));
  const distance = ({ index, 0: name }: RegExpExecArray): number => (at < index ? index - at : Math.max(0, at - index - name.length));
  return [...new Set(found.sort((a, b) => distance(a) - distance(b)).map(([name]) => name))].slice(0, 6);
}

const KEYWORDS: ReadonlySet<string> = new Set(
  'const let var return await async function if else for while of in new typeof throw try catch tools codemode console true false null undefined this'.split(
    ' ',
  ),
);

/** `result.content[0].text` is how raw MCP results look; here a call gives the content itself. */
function unwrappedContent({ message, line, source }: Clues): string | undefined {
  if (!/undefined|null/.test(message)) return undefined;
  if (
    /\.content\s*(?:\?\.)?\[\s*0\s*\]|\.content\s*\??\.\s*(?:map|find|filter|forEach|\[)/.test(line) &&
    /'(?:0|text|find|map|filter|forEach|type)'|reading '(?:0|text|find|map|filter|forEach)'|of undefined/.test(message)
  ) {
    return 'A call gives the result itself, already unwrapped: use it without `.content[0].text` and without `JSON.parse`.';
  }
  const wrapper = /(?<name>[\w$]+)\s*\??\.(?:structuredContent|data|result|body)\b/.exec(line)?.groups?.['name'];
  const isResult = (name: string): boolean =>
    new RegExp(String.raw`\b(?:const|let|var)\s+${name.replaceAll('$', '\\$')}\s*(?::[^=\n]+)?=\s*await\s+${TOOL_CALL}\s*\(`).test(source);
  if (
    /\.(?:structuredContent|data|result|body)\b/.test(line) &&
    (/\btools\b|await/.test(line) || (wrapper !== undefined && isResult(wrapper)))
  ) {
    return 'A call gives the result itself: there may be no `.data`, `.result` or `.structuredContent` around it. Log it once with `console.log` to see its fields.';
  }
  return undefined;
}

function parsedTwice({ message, name, line }: Clues): string | undefined {
  if (name !== 'SyntaxError' || !/JSON\.parse|JSON|unexpected/i.test(`${message} ${line}`)) return undefined;
  if (/\[object Object\]|unexpected token:? ['"`]?o(?:bject)?\b|"\[object/i.test(message))
    return 'The value is an object already: use it without `JSON.parse`.';
  if (/undefined/.test(message)) return 'There was nothing to parse: the value is undefined.';
  if (!/JSON\.parse/.test(line)) return undefined;
  return 'The text is not JSON. A call gives data that is parsed already; use `JSON.parse` only for fields that hold JSON text.';
}

function notFunction({ message, line, at, tools }: Clues): string | undefined {
  if (/invoked with(?:out)? 'new'/.test(message)) return 'Make an object of a class with `new Name(…)`.';
  if (!/not a function|is not callable/.test(message)) return undefined;
  if (/(?<![\w$.])(?:tools|codemode)\s*$/.test(line.slice(0, Math.max(0, at)))) return BY_NAME;
  const named = /^['"`]?([\w$.[\]?'"()…]+?)['"`]? is not a function/.exec(message)?.[1];
  if (named === 'tools' || named === 'codemode') return BY_NAME;
  const callee = named?.includes('.') ? named : (calleeAt(line, at) ?? named);
  if (callee === undefined) return 'Something that is called is not a function: check the spelling, and that it is not undefined.';
  const path = /^(?:tools|codemode)\.(.+)$/.exec(callee)?.[1];
  if (path !== undefined) {
    const inside = tools.filter((tool) => tool.path.startsWith(`${path}.`)).slice(0, 3);
    if (inside.length > 0)
      return `\`${callee}\` holds tools and is none itself: call one of them, such as ${list(inside.map((tool) => `tools.${tool.path}`))}.`;
    const near = nearestTools(path, tools);
    return near.length > 0
      ? `There is no tool \`${callee}\`. Did you mean ${list(
          near.map((candidate) => `tools.${candidate}`),
          'or',
        )}?`
      : `There is no tool \`${callee}\`: \`ALL_TOOLS\` lists them.`;
  }
  const method = /\.([\w$]+)$/.exec(callee)?.[1];
  if (method !== undefined && ARRAY_METHODS.has(method)) {
    const value = callee.slice(0, -method.length - 1).replace(/\?$/, '');
    return `\`${value}\` is not an array. It may be an object that holds one (log it to see its fields), an object to walk with \`Object.entries(${value})\`, or a promise that was not awaited.`;
  }
  return `\`${callee}\` is not a function: check the spelling, and what it holds.`;
}

const ARRAY_METHODS: ReadonlySet<string> = new Set(
  'map filter forEach find findIndex findLast reduce some every slice sort flatMap flat join includes push concat toSorted at length'.split(
    ' ',
  ),
);

/** The callee in the line that is called nearest to the place. */
function calleeAt(line: string, at: number): string | undefined {
  let best: { text: string; distance: number } | undefined;
  for (const match of line.matchAll(/([\w$]+(?:\??\.[\w$]+)*)\s*(?:\?\.)?\(/g)) {
    const text = match[1] ?? '';
    if (KEYWORDS.has(text)) continue;
    const end = match.index + match[0].length;
    const distance = at < match.index ? match.index - at : Math.max(0, at - end);
    if (!best || distance < best.distance) best = { text, distance };
  }
  return best?.text;
}

function notIterable({ message }: Clues): string | undefined {
  if (!/not iterable/.test(message)) return undefined;
  return 'What is spread, destructured or looped over is not a list: it may be undefined, an object (use `Object.entries(value)`), or a promise that was not awaited.';
}

function missingProperty({ message, line, at }: Clues): string | undefined {
  const match =
    /cannot (?:read|set) propert(?:y|ies)(?: ['"`](?<quickjs>[^'"`]*)['"`])? of (?<value>undefined|null)(?: \((?:reading|setting) '(?<v8>[^']*)'\))?/i.exec(
      message,
    )?.groups ?? (/cannot destructure|cannot convert (?:undefined or null )?to object/i.test(message) ? {} : undefined);
  if (!match) return undefined;
  if (match['value'] === undefined)
    return 'What is taken apart here is undefined or null: log what the call gave, or give a default with `?? {}`.';
  const property = match['quickjs'] ?? match['v8'];
  // QuickJS points at the dot, V8 at the name behind it.
  const before = line.slice(0, Math.max(0, at)).replace(/\??\.$/, '');
  const receiver = /[A-Za-z_$][\w$]*(?:\??\.[\w$]+|\[[^\]\n]{1,40}\])*$/.exec(before)?.[0];
  const subject = receiver === undefined || KEYWORDS.has(receiver) ? 'The value' : `\`${receiver}\``;
  const what = property === undefined ? '' : `${subject === 'The value' ? '' : ','} before \`.${property}\``;
  return `${subject}${what}${what.startsWith(',') ? ',' : ''} is ${match['value']}: log what the call gave to see its fields, or write \`?.\` where it may be missing.`;
}

function constant({ message }: Clues): string | undefined {
  return /assignment to constant|is read-only|read-only variable/i.test(message)
    ? 'Declare the variable with `let` to assign to it again.'
    : undefined;
}

function uninitialized({ message }: Clues): string | undefined {
  const match =
    /cannot access '([^']+)' before initialization|['"`]?([\w$]+)['"`]? is not initialized|lexical variable is not initialized/i.exec(
      message,
    );
  if (!match) return undefined;
  const name = match[1] ?? match[2];
  return `${name === undefined || name === 'variable' ? 'A variable' : `\`${name}\``} is used above its declaration, or inside of it: move the declaration up, or give one of two equal names another name.`;
}

function invalidDate({ message }: Clues): string | undefined {
  return /invalid (?:time value|date)|date value is nan/i.test(message)
    ? 'The text given to `Date` is not a date: check that the field is there and in ISO form (`2026-01-31T12:00:00Z`); seconds must be multiplied by 1000.'
    : undefined;
}

function bigInt({ message }: Clues): string | undefined {
  if (!/bigint/i.test(message)) return undefined;
  return /serialize|json/i.test(message)
    ? 'JSON has no BigInt: convert it with `String(value)` or `Number(value)`.'
    : 'Numbers and BigInts do not mix: convert one with `Number(value)` or `BigInt(value)`.';
}

function circular({ message }: Clues): string | undefined {
  return /circular/i.test(message) ? 'The value contains itself: pick the fields that you need before `JSON.stringify`.' : undefined;
}

function overflow({ message }: Clues): string | undefined {
  return /stack overflow|maximum call stack|too much recursion/i.test(message)
    ? 'A function calls itself without an end, or too deeply: check the condition that ends it, or use a loop with a list of what is left.'
    : undefined;
}

/** Mistakes with the language's own functions and operators, where the engine's words are short. */
function builtIn({ message, line }: Clues): string | undefined {
  if (/^empty array$|reduce of empty array/i.test(message))
    return 'The list is empty: give `reduce` a value to begin with, as its second argument.';
  if (/invalid 'in' operand|'in' operator/.test(message))
    return '`in` asks an object for a key: for text and lists use `.includes(…)`, and check that the value is not undefined.';
  if (/invalid 'instanceof' right operand|not callable.*instanceof/i.test(message))
    return 'On the right of `instanceof` stands a class, such as `Error` or `Map`.';
  if (/is not a constructor/.test(message))
    return new RegExp(String.raw`\bnew\s+${TOOL_CALL}`).test(line)
      ? 'A tool is called without `new`: `await tools.name({ … })`.'
      : 'What stands behind `new` is not a class: check the spelling, or call it without `new`.';
  if (/\bRegExp\s*\(/.test(line) && /expecting|unterminated|invalid|nothing to repeat|unexpected end/i.test(message))
    return 'The text given to `RegExp` is not a regular expression: put `\\\\` before a mark that should stand for itself, or search with `.includes(…)`.';
  return undefined;
}

function thrownPlain({ kind, name, message, source }: Clues): string | undefined {
  if (kind === 'program' && name === 'thrown')
    return 'Throw an error, `throw new Error(message)`: then its place in the program is told too.';
  if (kind !== 'program' || name !== 'AggregateError' || !/Promise\.any/.test(source)) return undefined;
  return /all promises/i.test(message) ? 'Every promise of `Promise.any` was rejected; `error.errors` holds the reasons.' : undefined;
}

/** Tools whose path, or its last part, is near a name. */
function nearestTools(name: string, tools: HintQuestion['tools']): string[] {
  const paths = tools.map(({ path }) => path);
  const whole = nearest(name, paths);
  if (whole.length > 0) return whole;
  const last = (path: string): string => path.slice(path.lastIndexOf('.') + 1);
  const [near] = nearest(last(name), [...new Set(paths.map(last))], 1);
  return near === undefined ? [] : paths.filter((path) => last(path) === near).slice(0, 3);
}

function list(names: readonly string[], word: 'or' | 'and' = 'or'): string {
  const quoted = names.map((name) => `\`${name}\``);
  return quoted.length < 2 ? (quoted[0] ?? '') : `${quoted.slice(0, -1).join(', ')} ${word} ${quoted.at(-1)}`;
}
