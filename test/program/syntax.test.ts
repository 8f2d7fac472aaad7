// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts of programs hold template literals.
// Texts that are no programs: each gets a sentence, a place in the model's own text, and the way out where there is a usual one.
import { expect, test } from 'vitest';
import { prepare } from '../../src/program/prepare.ts';
import { refused } from './evaluate.ts';

test.each<[string, number, number, RegExp]>([
  ['const a = 1;\nconst b = ;\nreturn a;', 2, 11, /Unexpected `;`/],
  ['const r = 1;\nconst r = 2;', 2, 7, /`r` is declared twice \(first on line 1\).*another name/],
  ['let x; let x: number;', 1, 12, /`x` is declared twice \(first on line 1\)/],
  ['function f() {\n  await x();\n}', 2, 3, /not async.*async/],
  ['xs.map(x => await f(x))', 1, 13, /not async/],
  ['if (x) {\n  foo();\n', 1, 8, /ends too early.*`\{`/],
  ['foo(1, 2', 1, 4, /ends too early.*`\(`/],
  ['return [1, 2', 1, 8, /`\[`/],
  ['const s = `abc', 1, 11, /template literal is not closed/],
  ['const a = `${b`;', 1, 15, /template literal is not closed/],
  ['const s = "abc\nfoo', 1, 11, /string is not closed/],
  ['/* abc', 1, 1, /comment is not closed/],
  ['return { a: 1 ]', 1, 15, /`\]` does not fit: the `\{` of line 1/],
  ['if (a) { b() } } else { c() }', 1, 16, /`\}` does not fit: nothing is open/],
  ['const a = [1, 2;\n', 1, 16, /`\[` of line 1 is still open/],
  ['let x = 5 5', 1, 11, /Unexpected `5`/],
  ['async () => {}()', 1, 15, /parentheses/],
  ["const s = 'it's here';", 1, 15, /`s`.*ended at its quote.*backticks/],
  ['const x;', 1, 8, /no value.*`let`/],
  ['xs.forEach(x => { break; })', 1, 19, /outside of any loop/],
  ['new.target', 1, 1, /new\.target/],
  ['return import.meta.url', 1, 8, /import\.meta/],
  ['def f():\n  return 1', 1, 5, /Python/],
  ['x = 1\nif x:\n  pass', 2, 4, /Python/],
  ['# comment\nx = 1', 1, 1, /Python/],
  ['print(f"a {x}")', 1, 8, /Python.*f-string/],
  ['for x in xs:\n  print(x)', 1, 5, /Python/],
  ['import json\nx = json', 2, 1, /Python/],
  ['SELECT * FROM users;', 1, 15, /SQL/],
  ['const x = “a”;', 1, 11, /quotes/],
  ['if (a &amp;&amp; b) {}', 1, 11, /HTML entities/],
  ['xs.map(x =&gt; x)', 1, 11, /HTML entities/],
  ['const a = 1;\\nreturn a;', 1, 14, /escaped twice/],
  ['I will first list the issues and then count them', 1, 3, /prose/],
  ['Sorry, I cannot do that.', 1, 10, /prose/],
  ['{"tool": "github.list", "arguments": {}}', 1, 1, /tool call in JSON.*tools\.github\.list/],
  ['[{"name": "a", "input": {}}]', 1, 1, /tool call in JSON/],
  ['{"code": "return 1"}', 1, 1, /JSON with the program in its field `code`/],
  ['```json\n{"a": 1}\n```', 2, 1, /`json`/],
  ['a\0b', 1, 2, /NUL/],
  ['a\u0001b c', 1, 2, /control/],
  ['return "\ud800"', 1, 9, /lone surrogate.*\\ud800/],
  ['Text.\n\n```js\nconst = 1;\n```', 4, 7, /Unexpected `=`/],
  ['const a = 1;\r\nconst b = ;', 2, 11, /Unexpected `;`/],
  ['if (1) { import x from "y" }', 1, 10, /only at the top/],
  ['class B {}\nclass C extends B { constructor(private x: number) { if (x) super(); } }', 2, 21, /super/],
  ['export default 1;\nexport default 2;', 2, 1, /at most one default|Only one default/],
])('%j at %i:%i', (source, line, column, words) => {
  const error = refused(source);
  expect(`${error.message} ${error.hint ?? ''}`).toMatch(words);
  expect({ line: error.line, column: error.column }).toEqual({ line, column });
});

test('a message has no position of its own and no word of the parser', () => {
  for (const source of [
    'const',
    'a b',
    'x = <div/>',
    '1 = 2',
    '@x class A {}',
    'class { }',
    'function () {',
    'enum E { A = }',
    'super()',
  ]) {
    const { message } = refused(source);
    expect(message).not.toMatch(/\(\d+:\d+\)|plugin|sourceType|Babel/i);
    expect(message).toMatch(/[.?]$/);
  }
});

test('any cut of a program is a program or a syntax error inside of it', () => {
  const source =
    'import { github } from "/mcp";\nenum E { A, B = `x${1}` }\nnamespace N { export let a = 1 }\nclass C<T> { constructor(private x?: T) {} }\nusing r = null;\nconst f = async <T,>(a: T, { b = 1 }: any): Promise<T> => a as T;\n```js\nx\n```\nexport default f;';
  for (let end = 0; end <= source.length; end += 1) {
    for (const text of [source.slice(0, end), source.slice(end)]) {
      const result = prepare(text);
      if (result.ok) continue;
      expect(result.error.line).toBeGreaterThan(0);
      expect(result.error.line).toBeLessThanOrEqual(text.split('\n').length);
      expect(result.error.column).toBeGreaterThan(0);
    }
  }
});
