// `console` as in Node, with every line bounded. It formats; the host decides how many lines a program may print in all.
import {
  ArrayIsArray,
  ArrayPrototypeJoin,
  ArrayPrototypeSlice,
  BigIntPrototypeToString,
  table as emptyTable,
  JSONStringify,
  list,
  MapConstructor,
  MapPrototypeDelete,
  MapPrototypeForEach,
  MapPrototypeGet,
  MapPrototypeGetSize,
  MapPrototypeHas,
  MapPrototypeSet,
  MathMax,
  NumberConstructor,
  NumberParseFloat,
  NumberParseInt,
  NumberPrototypeToFixed,
  ObjectGetOwnPropertyDescriptor,
  ObjectGetPrototypeOf,
  ObjectKeys,
  ObjectPrototypeHasOwnProperty,
  ReflectApply,
  replaceText,
  SetPrototypeForEach,
  SetPrototypeGetSize,
  StringConstructor,
  StringPrototypeCharCodeAt,
  StringPrototypePadStart,
  StringPrototypeRepeat,
  StringPrototypeSlice,
  SymbolToPrimitive,
} from '../primordials.ts';
import type { WorldContext } from './context.ts';
import { defineGlobal, defineTag, defineVisible } from './define.ts';
import type { OutputLevel } from './host.ts';
import { displayWidth, formatNumber, type InspectOptions, type Inspector, MAX_TEXT } from './inspect.ts';

const MAX_INDENTATION = 40;
const MAX_LABELS = 1000;
const MAX_TABLE_ROWS = 500;
const MAX_TABLE_COLUMNS = 50;

/** Makes `format(first, ...rest)`: Node's `util.format`, bounded. */
function createFormat(inspector: Inspector): (args: readonly unknown[]) => string {
  return (args) => {
    const first = args[0];
    if (args.length === 1) return typeof first === 'string' ? first : inspector.inspect(first);
    let used = 0;
    let text = '';
    let separator = '';
    if (typeof first === 'string') {
      let copied = 0;
      for (let i = 0; i < first.length - 1 && text.length <= MAX_TEXT; i++) {
        if (StringPrototypeCharCodeAt(first, i) !== 0x25) continue;
        const directive = first[++i];
        if (directive === '%') {
          text += StringPrototypeSlice(first, copied, i);
          copied = i + 1;
          continue;
        }
        if (used + 1 >= args.length) continue;
        const formatted = formatDirective(inspector, directive, args[used + 1]);
        if (formatted === undefined) continue;
        used++;
        text += StringPrototypeSlice(first, copied, i - 1) + formatted;
        copied = i + 1;
      }
      if (copied !== 0) {
        used++;
        separator = ' ';
        text += StringPrototypeSlice(first, copied);
      }
    }
    for (; used < args.length; used++) {
      if (text.length > MAX_TEXT) return `${text} ... ${args.length - used} more arguments`;
      const value = args[used];
      text += separator + (typeof value === 'string' ? value : inspector.inspect(value));
      separator = ' ';
    }
    return text;
  };
}

function formatDirective(inspector: Inspector, directive: string | undefined, value: unknown): string | undefined {
  switch (directive) {
    case 's':
      if (typeof value === 'number') return formatNumber(value);
      if (typeof value === 'bigint') return `${BigIntPrototypeToString(value)}n`;
      if (value === null || typeof value !== 'object' || !hasBuiltInToString(inspector, value)) return safeString(inspector, value);
      return inspector.inspect(value, { depth: 0 });
    case 'd':
      if (typeof value === 'bigint') return `${BigIntPrototypeToString(value)}n`;
      return typeof value === 'symbol' ? 'NaN' : formatNumber(safeNumber(value));
    case 'i':
      if (typeof value === 'bigint') return `${BigIntPrototypeToString(value)}n`;
      return typeof value === 'symbol' ? 'NaN' : formatNumber(NumberParseInt(safeString(inspector, value)));
    case 'f':
      return typeof value === 'symbol' ? 'NaN' : formatNumber(NumberParseFloat(safeString(inspector, value)));
    case 'j':
      try {
        return JSONStringify(value) ?? 'undefined';
      } catch {
        return '[Circular]';
      }
    case 'O':
      return inspector.inspect(value);
    case 'o':
      return inspector.inspect(value, { showHidden: true, depth: 4 });
    case 'c':
      return '';
    default:
      return undefined;
  }
}

function safeString(inspector: Inspector, value: unknown): string {
  try {
    return StringConstructor(value);
  } catch {
    return inspector.inspect(value, { depth: 0 });
  }
}

function safeNumber(value: unknown): number {
  try {
    return NumberConstructor(value);
  } catch {
    return 0 / 0;
  }
}

/** Whether `%s` should print the object's structure: it has no `toString` that its author wrote. */
function hasBuiltInToString(inspector: Inspector, given: object): boolean {
  const value = inspector.behind(given);
  if (value !== given) return true;
  // An error's own text is what people write `%s` for.
  if (inspector.isError(value)) return false;
  let holder: object | null = value;
  for (let depth = 0; holder !== null && depth < 16; depth++) {
    if (ObjectPrototypeHasOwnProperty(holder, SymbolToPrimitive))
      return ObjectGetPrototypeOf(holder) === null || depth > 0 ? isBuiltIn(holder) : false;
    const own = ObjectGetOwnPropertyDescriptor(holder, 'toString');
    if (own !== undefined) return typeof own.value !== 'function' || isBuiltIn(holder);
    holder = ObjectGetPrototypeOf(holder);
  }
  return true;
}

function isBuiltIn(prototype: object): boolean {
  const constructor: unknown = ObjectGetOwnPropertyDescriptor(prototype, 'constructor')?.value;
  if (typeof constructor !== 'function') return false;
  const name: unknown = ObjectGetOwnPropertyDescriptor(constructor, 'name')?.value;
  return typeof name === 'string' && ObjectGetOwnPropertyDescriptor(globalThis, name)?.value === constructor;
}

/** Defines `console`. */
export function installConsole(context: WorldContext): void {
  const { host, inspector } = context;
  const format = createFormat(inspector);
  const counts = new MapConstructor<string, number>();
  const starts = new MapConstructor<string, number>();
  let indentation = '';

  function write(level: OutputLevel, full: string): void {
    let text = full;
    if (text.length > MAX_TEXT) {
      text = `${StringPrototypeSlice(text, 0, MAX_TEXT)}… [cut here: ${full.length - MAX_TEXT} more characters; print less, or return the value]`;
    }
    host.output(level, indentation === '' ? text : indentation + replaceText(text, '\n', `\n${indentation}`));
  }

  function remember(labels: Map<string, number>, label: string, value: number): void {
    if (MapPrototypeGetSize(labels) < MAX_LABELS || MapPrototypeHas(labels, label)) MapPrototypeSet(labels, label, value);
  }

  const labelOf = (label: unknown): string => (label === undefined ? 'default' : safeString(inspector, label));
  const rest = (args: readonly unknown[], from: number): unknown[] => ArrayPrototypeSlice(args, from);

  function elapsed(label: string, level: 'time' | 'timeLog' | 'timeEnd', extra: readonly unknown[]): void {
    const start = MapPrototypeGet(starts, label);
    if (start === undefined) {
      write('warn', `Warning: No such label '${label}' for console.${level}()`);
      return;
    }
    const text = `${label}: ${formatDuration(host.now() - start)}`;
    write('log', extra.length === 0 ? text : `${text} ${format(extra)}`);
  }

  const methods = {
    log(...args: unknown[]): void {
      write('log', args.length === 0 ? '' : format(args));
    },
    info(...args: unknown[]): void {
      write('info', args.length === 0 ? '' : format(args));
    },
    debug(...args: unknown[]): void {
      write('debug', args.length === 0 ? '' : format(args));
    },
    warn(...args: unknown[]): void {
      write('warn', args.length === 0 ? '' : format(args));
    },
    error(...args: unknown[]): void {
      write('error', args.length === 0 ? '' : format(args));
    },
    trace(...args: unknown[]): void {
      write('error', args.length === 0 ? 'Trace' : `Trace: ${format(args)}`);
    },
    dir(value?: unknown, options?: { depth?: number; showHidden?: boolean; maxArrayLength?: number; breakLength?: number } | null): void {
      const chosen: InspectOptions = {};
      if (typeof options === 'object' && options !== null) {
        if (options.depth !== undefined) chosen.depth = options.depth;
        if (options.showHidden !== undefined) chosen.showHidden = options.showHidden;
        if (options.maxArrayLength !== undefined) chosen.maxArrayLength = options.maxArrayLength;
        if (options.breakLength !== undefined) chosen.breakLength = options.breakLength;
      }
      write('log', inspector.inspect(value, chosen));
    },
    dirxml(...args: unknown[]): void {
      ReflectApply(methods.log, undefined, args);
    },
    table(data?: unknown, columns?: unknown): void {
      if (typeof data !== 'object' || data === null) write('log', format([data]));
      else write('log', formatTable(inspector, data, ArrayIsArray(columns) ? columns : undefined));
    },
    group(...args: unknown[]): void {
      if (args.length > 0) write('log', format(args));
      if (indentation.length < MAX_INDENTATION) indentation += '  ';
    },
    groupCollapsed(...args: unknown[]): void {
      ReflectApply(methods.group, undefined, args);
    },
    groupEnd(): void {
      indentation = StringPrototypeSlice(indentation, 0, MathMax(0, indentation.length - 2));
    },
    time(label?: unknown): void {
      const name = labelOf(label);
      if (MapPrototypeHas(starts, name)) write('warn', `Warning: Label '${name}' already exists for console.time()`);
      else remember(starts, name, host.now());
    },
    timeLog(label?: unknown, ...args: unknown[]): void {
      elapsed(labelOf(label), 'timeLog', args);
    },
    timeEnd(label?: unknown): void {
      const name = labelOf(label);
      elapsed(name, 'timeEnd', list());
      MapPrototypeDelete(starts, name);
    },
    assert(condition?: unknown, ...args: unknown[]): void {
      if (condition) return;
      if (args.length === 0) write('warn', 'Assertion failed');
      else if (typeof args[0] === 'string') {
        const message = rest(args, 0);
        // Index 0 exists, so no inherited setter can be met.
        message[0] = `Assertion failed: ${args[0]}`;
        write('warn', format(message));
      } else write('warn', `Assertion failed: ${format(args)}`);
    },
    count(label?: unknown): void {
      const name = labelOf(label);
      const count = (MapPrototypeGet(counts, name) ?? 0) + 1;
      remember(counts, name, count);
      write('log', `${name}: ${count}`);
    },
    countReset(label?: unknown): void {
      const name = labelOf(label);
      if (MapPrototypeDelete(counts, name)) return;
      write('warn', `Warning: Count for '${name}' does not exist`);
    },
    clear(): void {},
    timeStamp(): void {},
    profile(): void {},
    profileEnd(): void {},
  };

  const object = {};
  const names = ObjectKeys(methods);
  for (let i = 0; i < names.length; i++) {
    const name = names[i] as keyof typeof methods;
    defineVisible(object, name, methods[name]);
  }
  defineTag(object, 'console');
  defineGlobal('console', object);
}

function formatDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${NumberConstructor(NumberPrototypeToFixed(milliseconds, 3))}ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 60) return `${NumberPrototypeToFixed(seconds, 3)}s`;
  const minutes = seconds / 60 - ((seconds / 60) % 1);
  const two = (value: number): string => StringPrototypePadStart(NumberPrototypeToFixed(value, 3), 6, '0');
  if (minutes < 60) return `${minutes}:${two(seconds % 60)} (m:ss.mmm)`;
  const hours = minutes / 60 - ((minutes / 60) % 1);
  return `${hours}:${StringPrototypePadStart(`${minutes % 60}`, 2, '0')}:${two(seconds % 60)} (h:mm:ss.mmm)`;
}

function formatTable(inspector: Inspector, given: object, columns: readonly unknown[] | undefined): string {
  const data = inspector.behind(given);
  const cell = (shown: unknown): string => {
    const value = typeof shown === 'object' && shown !== null ? inspector.behind(shown) : shown;
    const deep = typeof value === 'object' && value !== null && !ArrayIsArray(value) && ObjectKeys(value).length > 2 ? -1 : 0;
    return inspector.inspect(value, { depth: deep, maxArrayLength: 3, breakLength: 1 / 0, maxLength: 1000, maxStringLength: 500 });
  };
  const head = list<string>();
  const body = list<string[]>();
  let left = 0;

  const size = sizeOf(data);
  if (size !== undefined) {
    head[0] = '(iteration index)';
    const isMap = size.kind === 'map';
    if (isMap) head[1] = 'Key';
    head[head.length] = 'Values';
    const add = (value: unknown, key?: unknown): void => {
      if (body.length >= MAX_TABLE_ROWS) {
        left++;
        return;
      }
      const row = list<string>();
      row[0] = `${body.length}`;
      if (isMap) row[1] = cell(key);
      row[row.length] = cell(value);
      body[body.length] = row;
    };
    if (isMap) MapPrototypeForEach(data as Map<unknown, unknown>, (value, key) => add(value, key));
    else SetPrototypeForEach(data as Set<unknown>, (value) => add(value));
    return drawTable(head, body, left);
  }

  const rowKeys = ObjectKeys(data);
  const names = list<string>();
  const known = emptyTable<number>();
  const rows = list<{ cells: Record<string, string>; value: string | undefined }>();
  let hasPrimitives = false;
  for (let i = 0; i < rowKeys.length; i++) {
    if (i >= MAX_TABLE_ROWS) {
      left = rowKeys.length - i;
      break;
    }
    const own: unknown = ObjectGetOwnPropertyDescriptor(data, rowKeys[i] as string)?.value;
    const item = (typeof own === 'object' || typeof own === 'function') && own !== null ? inspector.behind(own) : own;
    const primitive = item === null || (typeof item !== 'function' && typeof item !== 'object');
    const cells = emptyTable<string>();
    let value: string | undefined;
    if (columns === undefined && primitive) {
      hasPrimitives = true;
      value = cell(item);
    } else {
      const keys = columns ?? ObjectKeys(item as object);
      for (let j = 0; j < keys.length && j < MAX_TABLE_COLUMNS; j++) {
        const key = safeString(inspector, keys[j]);
        if (known[key] === undefined) {
          if (names.length >= MAX_TABLE_COLUMNS) continue;
          known[key] = 1;
          names[names.length] = key;
        }
        if (primitive) continue;
        const descriptor = ObjectGetOwnPropertyDescriptor(item as object, key);
        if (descriptor !== undefined) {
          cells[key] = ObjectPrototypeHasOwnProperty(descriptor, 'value') ? cell(descriptor.value) : '[Getter]';
        }
      }
    }
    rows[i] = { cells, value };
  }
  head[0] = '(index)';
  for (let i = 0; i < names.length; i++) head[i + 1] = names[i] as string;
  if (hasPrimitives) head[head.length] = 'Values';
  for (let i = 0; i < rows.length; i++) {
    const { cells, value } = rows[i] as { cells: Record<string, string>; value: string | undefined };
    const row = list<string>();
    row[0] = rowKeys[i] as string;
    for (let j = 0; j < names.length; j++) row[j + 1] = cells[names[j] as string] ?? '';
    if (hasPrimitives) row[row.length] = value ?? '';
    body[i] = row;
  }
  return drawTable(head, body, left);
}

function sizeOf(data: object): { kind: 'map' | 'set' } | undefined {
  try {
    MapPrototypeGetSize(data);
    return { kind: 'map' };
  } catch {
    // Not a Map.
  }
  try {
    SetPrototypeGetSize(data);
    return { kind: 'set' };
  } catch {
    return undefined;
  }
}

function drawTable(head: readonly string[], body: readonly (readonly string[])[], left: number): string {
  const widths = list<number>();
  for (let i = 0; i < head.length; i++) {
    let width = displayWidth(head[i] as string);
    for (let j = 0; j < body.length; j++) width = MathMax(width, displayWidth((body[j] as readonly string[])[i] ?? ''));
    widths[i] = width + 2;
  }
  const rules = list<string>();
  for (let i = 0; i < widths.length; i++) rules[i] = StringPrototypeRepeat('─', widths[i] as number);
  const draw = (cells: readonly string[]): string => {
    const padded = list<string>();
    for (let i = 0; i < head.length; i++) {
      const text = cells[i] ?? '';
      padded[i] = text + StringPrototypeRepeat(' ', (widths[i] as number) - 2 - displayWidth(text));
    }
    return `│ ${ArrayPrototypeJoin(padded, ' │ ')} │\n`;
  };
  let text = `┌${ArrayPrototypeJoin(rules, '┬')}┐\n${draw(head)}├${ArrayPrototypeJoin(rules, '┼')}┤\n`;
  for (let i = 0; i < body.length && text.length < MAX_TEXT; i++) text += draw(body[i] as readonly string[]);
  text += `└${ArrayPrototypeJoin(rules, '┴')}┘`;
  return left === 0 ? text : `${text}\n... ${left} more row${left > 1 ? 's' : ''}`;
}
