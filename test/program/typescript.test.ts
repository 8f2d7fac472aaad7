// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts of programs hold template literals.
// TypeScript programs: what only the checker reads is gone without moving anything, what makes code works as TypeScript has it.
import { describe, expect, test } from 'vitest';
import { outcomeOf, prepared, refused } from './evaluate.ts';

const world = { tools: { echo: async (value: unknown) => value } };

const PROGRAMS: [string, unknown][] = [
  ['f<string>("x"); function f(a) { return a }', 'x'],
  ['const f = (a) => a;\nf<string>("x")', 'x'],
  ['const a = 1, b = 2, c = 3; const f = (x, y) => [x, y];\nf(a < b, c > (2))', [true, true]],
  ['const g = <A, B>(x: any) => x; const f = (x: any) => x;\nf(g<string, number>(4))', 4],
  ['const m = new Map<string, number>(); m.size', 0],
  ['const m = new Map<string, Array<number>>([["a",[1]]]);\nm.get("a")![0]', 1],
  ['const a = 5, b = 3, d = 1; const r = a < b && a > (d);\nr', false],
  ['let x: number\n= 4; x', 4],
  ['type A = number\ntype B = string\nconst x = 1\n;[x]', [1]],
  ['let y = 1 as any\n(1, 2)\ny', 1],
  ['const v = 1\ninterface A {}\n(v)', 1],
  ['const q = 1\ntype A = 1\n[1,2].length', 2],
  ['class A { x: number\n["y"] = 2 }\nnew A()', { y: 2 }],
  ['class A { x = 1\n private ["y"]: number = 2 }\nnew A()', { x: 1, y: 2 }],
  ['class A { x = 1\n public *gen() { yield 1 } }\n[...new A().gen()]', [1]],
  ['class A { get: number\n foo() { return 1 } }\nnew A().foo()', 1],
  [
    'class A { static: string = "s"\n readonly = 3; public = 4; declare y: number; override = 5 }\nnew A()',
    { static: 's', readonly: 3, public: 4, override: 5 },
  ],
  ['const f = (a: number)\n : number => a + 1;\nf(1)', 2],
  ['const f = (\n a: number, // )\n b?: string,\n): { x: number;\n y: string } => ({ x: a, y: "s" });\nf(1)', { x: 1, y: 's' }],
  ['const f = async <\n T\n>(x: T): Promise<T> => x;\nf(1)', 1],
  ['function g() { return <T\n,>(x: T) => x }\ng()(3)', 3],
  ['function g(raw: any) { return <{\n a: number }>raw }\ng({a:1})', { a: 1 }],
  ['const f = () => <any>{ a: 1 };\nf()', { a: 1 }],
  ['<any>{ a: 1 }', { a: 1 }],
  ['const x = <number><unknown>"5"; x', '5'],
  ['<any>(() => 5)', 5],
  [
    'enum Color { Red, Green = 5, Blue }\nreturn [Color.Red, Color.Blue, Color[5], Color]',
    [0, 6, 'Green', { '0': 'Red', '5': 'Green', '6': 'Blue', Red: 0, Green: 5, Blue: 6 }],
  ],
  [
    'const enum E { A = 1 << 2, B = A | 1, C = "x".length, D = `t${A}`, "e-f" = "q" }\nreturn E',
    { '1': 'C', '4': 'A', '5': 'B', A: 4, B: 5, C: 1, D: 't4', 'e-f': 'q' },
  ],
  ['enum S { A = "a", B = "b" }\nObject.values(S)', ['a', 'b']],
  ['enum E { A }\nenum E { B = 1 }\nE.B + E.A', 1],
  ['{ enum E { A } var r = E.A }\nr', 0],
  ['declare enum X { A }\ndeclare const y: number; 3', 3],
  ['enum N { A = -1, B, C = 2 ** 3, D }\n[N.A, N.B, N.C, N.D]', [-1, 0, 8, 9]],
  ['enum E {\n A, // first\n\n /* x */ B = 2\n ,\n}\nE.B', 2],
  ['enum Flag { None = 0, Read = 1 << 0, Write = 1 << 1, All = Read | Write }\nFlag.All', 3],
  ['enum E { A = 1, B = ((x: number) => x + A)(2) }\nE.B', 3],
  ['export enum E { A }\nexport default E.A', 0],
  [
    'namespace N { export const x = 1; export function f() { return x } export class C {} const hidden = 2; export namespace M { export let y = hidden } }\nreturn [N.x, N.f(), typeof N.C, N.M.y, N.hidden]',
    [1, 1, 'function', 2, null],
  ],
  ['namespace A.B.C { export const z = 3 }\nA.B.C.z', 3],
  ['namespace N { export let n = 0; export function inc() { n++ } }\nN.inc(); N.inc();\nN.n', 2],
  ['namespace T { export interface X {} export type Y = 1 }\n1', 1],
  ['class K { static a = 1 } namespace K { export const b = 2 }\n[K.a, K.b]', [1, 2]],
  ['function fn() { return fn.v } namespace fn { export const v = 7 }\nfn()', 7],
  ['namespace N { export const {a, b: [c]} = {a: 1, b: [2]} }\n[N.a, N.c]', [1, 2]],
  ['namespace N { export enum E { A = 4 } }\nN.E.A', 4],
  ['namespace Y { export const z = 1 }\nimport q = Y.z;\nq', 1],
  ['declare module "x" { export const y: number }\ndeclare global { interface Window {} }\n1', 1],
  ['module Foo { export const a = 1 }\nFoo.a', 1],
  ['namespace N { export const a = 1 }\nnamespace N { export const b = 2 }\nN', { a: 1, b: 2 }],
  [
    'class A { constructor(private readonly x: number, public y = 2, protected z?: string) {} sum() { return this.x + this.y } }\nnew A(1).sum()',
    3,
  ],
  [
    'class B { constructor(public a: number) {} }\nclass C extends B { constructor(a: number, public b: number) { super(a); } }\nnew C(1, 2)',
    { a: 1, b: 2 },
  ],
  ['class B {}\nclass C extends B { constructor(public b: number) { const x = 1; super()\n this.b += x } }\nnew C(2)', { b: 3 }],
  [
    'abstract class S { abstract area(): number; describe(): string { return `a${this.area()}` } protected abstract x: number; }\nclass Q extends S { x = 1; override area() { return 4 } }\nnew Q().describe()',
    'a4',
  ],
  [
    'class A<T> extends Map<string, T> implements Iterable<any>, Foo<T> { get2<K extends string>(k: K): T | undefined { return this.get(k) } }\ninterface Foo<T> {}\nnew A<number>([["a", 1]]).get2("a")',
    1,
  ],
  ['class A implements B {}\ninterface B {}\nconst C = class implements B { x? = 1; y!: number; m?(): void; };\nnew C()', { x: 1 }],
  ['const C = class<T> extends (class { v = 1 })<T> {}; new C().v', 1],
  ['function f(a: string): string;\nfunction f(a: number): number;\nfunction f(a: any) { return a }\nf(3)', 3],
  [
    'class A { m(a: string): void; m(a: number): void; m(a: any) { return a } constructor(a: string); constructor(a: any) {} }\nnew A("x").m(2 as any)',
    2,
  ],
  ['export default function f(): number; export default function f() { return 3 }', 3],
  ['function f(this: any, a = 1) { return a }\nf.call(null)', 1],
  ['function f(this: Date) { return 2 }\nf.call(new Date())', 2],
  ['function f(this: any,) { return 2 }\nf()', 2],
  [
    'function isS(x: unknown): x is string { return typeof x === "string" }\nfunction as1(x: any): asserts x is string {}\nfunction as2(x: any): asserts x {}\nisS("a")',
    true,
  ],
  [
    'const { a, b: { c } = { c: 2 } }: { a: number; b?: any } = { a: 1 };\nconst [d, ...e]: number[] = [1,2,3];\n[a, c, d, e]',
    [1, 2, 1, [2, 3]],
  ],
  ['const x = { a: 1 } satisfies Record<string, number>; const y = [1, 2] as const; x.a + y[1]!', 3],
  ['const o: any = { a: { b: [1] } }; o!.a!.b![0]! + (o?.a!.b)[0]', 2],
  [
    'let u: unique symbol; let k: keyof typeof Math; let i: import("x").Y; let t: [a: string, b?: number, ...c: any[]]; let c: abstract new () => void; let m: { readonly [K in "a"]+?: 1 }; let tl: `a${string}`; 1',
    1,
  ],
  ['type X<T> = T extends (infer U extends string)[] ? U : never; 2', 2],
  ['for (const [k, v] of Object.entries({ a: 1 }) as [string, number][]) { var s = k + v }\ns', 'a1'],
  ['for (let i: number = 0, n = 3 as number; i < n; i++) {}\n1', 1],
  ['for (const x of [1] as any)\n var y = x\ny', 1],
  ['try { throw 1 } catch (e: unknown) { var z = e as number }\nz', 1],
  ['let a: any = 1; a! += 2; (a as number) += 1; (<any>a)++; a', 5],
  [
    'const f = (x?: number, ...r: string[]): void => {}; const g = function <T>(this: T) {}; const h = { m<T>(x: T): T { return x }, async *n(): AsyncGenerator<number> {}, get p(): number { return 1 }, set p(v: number) {}, [`k`]: 1 as number }; h.m(4)',
    4,
  ],
  ['const t = <T extends unknown>(a: T) => a; t<number>(2)', 2],
  ['const x = (y: any): y is string => true; x(1)', true],
  ['const id = async <T,>(x: T) => x; await id<number>(3)', 3],
  ['tag<string>`x`; function tag(a: any) { return a[0] }', 'x'],
  ['const f = tools.echo<number>; f(3)', 3],
  ['const x = tools.echo!(3 as any); x', 3],
  ['if (1) x = 2 as any\nelse x = 3 as any\nvar x: number\nx', 2],
  ['const p = () => { return 1 as number\n}\n;p()', 1],
  ['let x = 5 as number; // c\nx', 5],
  ['let x = (5 as number) /* c */\n;(x)', 5],
  ['const s = `value is <${1 + 2}>`, r = /<T>(x: any)/.source, c = 1 < 2 ? "a: b" : "c as d"; s + r + c', 'value is <3><T>(x: any)a: b'],
  ['const x = { as: 1, type: 2, of: 3, satisfies: 4, declare: 5, namespace: 6, is: 7 }; const { as, type, of } = x; as + type + of', 6],
  ['const type = 1; type\nconst abstract = 2; abstract', 2],
  ['let declare = 1; declare\nlet namespace = 2; namespace', 2],
  ['const log: string[] = [];\n{ using r = { [Symbol.dispose]() { log.push("d") } }; log.push("b"); }\nlog', ['b', 'd']],
  [
    'const log: string[] = [];\nconst mk = (n: string) => ({ [Symbol.dispose]() { log.push(n) } });\nfunction f() { using a = mk("a"), b = mk("b"); using c = null; log.push("body"); return 1 }\nf();\nlog',
    ['body', 'b', 'a'],
  ],
  ['using r = { v: 5, [Symbol.dispose]() { this.v = 0 } };\nr.v', 5],
  [
    'await using r = { v: 5, async [Symbol.asyncDispose]() { this.v = 0 } };\nasync function main() { await 0; return r.v }\nmain() // c',
    5,
  ],
  [
    'const log = [];\nfor (using x of [1,2].map(n => ({ n, [Symbol.dispose]() { log.push(n) } }))) { log.push("b" + x.n); if (x.n === 2) break }\nlog',
    ['b1', 1, 'b2', 2],
  ],
  [
    'const log = [];\nfor (using x = { [Symbol.dispose]() { log.push("d") } }, i = null; log.length < 2;) log.push("r");\nlog',
    ['r', 'r', 'd'],
  ],
  [
    'const log = [];\nasync function f() { for (await using x of [{ async [Symbol.asyncDispose]() { log.push("d") } }]) log.push("b") }\nawait f();\nlog',
    ['b', 'd'],
  ],
  [
    'try { using a = { [Symbol.dispose]() { throw new Error("d") } }; throw new Error("b") } catch (e) { return [e.name, e.error.message, e.suppressed.message] }',
    ['SuppressedError', 'd', 'b'],
  ],
  ['try { using a = {} } catch (e) { return e.name }', 'TypeError'],
  ['using r = { [Symbol.dispose]() {} }; return await (async () => 1)()', 1],
  ['class A { static { using x = null; } }\n1', 1],
  ['switch (1) { case 1: { using x = null; } }\n1', 1],
  ['const using = 1; using\n', 1],
  [
    'class R { [Symbol.dispose](): void {} }\nasync function main(): Promise<number> {\n  using r: R = new R();\n  return 1;\n}\nawait main()',
    1,
  ],
  ['"use strict"; using x = null; (function () { return this === undefined })()', true],
  ['/[\\p{L}--[a-z]]/v.test("A")', true],
];

test.each(PROGRAMS)('%j gives %j', async (source, value) => {
  expect(await outcomeOf(source, world)).toEqual(value);
});

test.each(['@log class A {}', 'class A { @log m() {} }', 'class A { @log x = 1 }'])('a decorator is refused by its name: %s', (source) => {
  expect(refused(source)).toMatchObject({ message: 'Decorators are not supported.', hint: expect.stringContaining('Call') });
});

test.each([
  'return <div>hi</div>;',
  'const x = <Foo />;',
  'return (\n <div>\n  {x}\n </div>\n)',
  'const x = <>a</>',
  'const C = () => <b className="a">{1}</b>;',
])('JSX is refused by its name: %j', (source) => {
  expect(refused(source).message).toContain('JSX');
});

test('a resource in a bare case is refused', () => {
  expect(refused('switch (1) { case 1: using x = null }').message).toContain('`using`');
});

/** Programs of erasable types only. */
const ERASABLE = [
  'type P = { id: number; name?: string };\nfunction by<T, K extends keyof T>(rows: T[], key: K): Record<string, number> {\n  const out: Record<string, number> = {};\n  for (const row of rows as T[]) out[String(row[key]!)] = 1 satisfies number;\n  return out;\n}\nreturn by<P, "id">([{ id: 1 }], "id");',
  'abstract class S<T> extends Map<string, T> implements I<T>, J {\n  private static readonly a: number = 1;\n  #p?: string;\n  declare q: number;\n  protected abstract area(): number;\n  public override get(k: string): T | undefined { return super.get(k)!; }\n  [key: string]: any;\n  m?(this: S<T>, a?: number, ...rest: string[]): asserts this is S<T>;\n}\ninterface I<T> { t: T }\ninterface J {}\nreturn typeof S;',
  'const first = <T,>(xs: readonly T[]): T => xs[0]!;\nconst key = async <T extends object>(o: T): Promise<keyof T> => Object.keys(o)[0] as keyof T;\nlet u: unique symbol, v!: string;\nfor (const [k, w] of Object.entries({ a: 1 }) as [string, number][]) first<number>([w]);\ntry { throw 1 } catch (e: unknown) { await key({ a: (e as Error)?.message }); }\nreturn first<string>(["x"]);',
  'declare const tools: { a(x: number): Promise<void> };\ndeclare global { interface Window { x: 1 } }\nfunction over(a: string): string;\nfunction over(a: number): number;\nfunction over(a: any) { return a; }\nimport type { X } from "y";\nexport type { Z } from "z";\nconst raw = <any>{ n: 3 };\nreturn (<{ n: number }>raw).n + over(1);',
  'const f = (\n  a: number, // a note )\n  b?: string,\n): { x: number } => ({ x: a });\nconst { c, d: [e] = [1] }: { c: number; d?: number[] } = { c: 1 };\nlet n: number\n= 2;\nconst tagged = String.raw<string>`<T>${n as number}`;\nreturn new Set<Array<string>>().size + f(c).x + e;',
];

/** Identifiers, keywords and numbers with their places. */
function words(text: string): string[] {
  return text.split('\n').flatMap((line, row) => [...line.matchAll(/[\w$]+/g)].map((match) => `${match[0]}@${row + 1}:${match.index + 1}`));
}

describe('erasable types move nothing', () => {
  test.each(ERASABLE)('%j', (source) => {
    const { code } = prepared(source);
    const body = code.slice(code.indexOf('\n') + 1, code.lastIndexOf('\n'));
    const before = new Set(words(source));
    expect(words(body).filter((word) => !before.has(word))).toEqual([]);
    expect(body.split('\n').map((line) => line.length)).toEqual(source.split('\n').map((line) => line.length));
    expect(() => new Function(`return ${code}`)).not.toThrow();
  });
});

test('code that TypeScript makes stays on its lines', () => {
  const source =
    'enum E {\n  A,\n  // note\n  B = 5,\n}\nnamespace N {\n  export const x = 1;\n}\nclass P {\n  constructor(private a: number) {\n  }\n}\nmark();';
  const { code } = prepared(source);
  expect(code.split('\n').findIndex((line) => line.includes('mark'))).toBe(source.split('\n').length);
});

test('a comparison that is JavaScript stays one unless its names can only be types', async () => {
  expect(await outcomeOf('const a = 1, b = 2, c = 3;\nconst f = (...xs) => xs;\nreturn f(a < b, c > (2));')).toEqual([true, true]);
  expect(await outcomeOf('const g = (x) => x;\nreturn [g<string>("x"), g<Unknown>(`y`), g<Array<string>>("z")];')).toEqual(['x', 'y', 'z']);
});
