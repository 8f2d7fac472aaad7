// Every engine in every isolation that it has, for suites that all of them must pass. V8 runs on the Node 24 of the development dependencies,
// whatever Node runs the tests.
import { fileURLToPath } from 'node:url';
import { type CodeModeOptions, v8 } from '../../src/index.ts';

export interface Combination {
  readonly engine: 'quickjs' | 'v8';
  readonly isolation: 'inline' | 'thread' | 'process';
}

/** The Node that V8's children run on. */
export const NODE_24 = fileURLToPath(new URL('../../node_modules/node/bin/node', import.meta.url));

export const COMBINATIONS: readonly Combination[] = [
  { engine: 'quickjs', isolation: 'inline' },
  { engine: 'quickjs', isolation: 'thread' },
  { engine: 'quickjs', isolation: 'process' },
  { engine: 'v8', isolation: 'process' },
];

/** The options of `createCodeMode` for a combination. */
export function optionsFor({ engine, isolation }: Combination): Pick<CodeModeOptions, 'engine' | 'isolation'> {
  return { engine: engine === 'v8' ? v8({ node: NODE_24 }) : engine, isolation };
}

/** The combination that this run of a suite is for: the default one, unless the file that loads the suite asks for another. */
export function underTest(): Combination {
  const [engine = 'quickjs', isolation = 'thread'] = (process.env['CALLGATE_TEST'] ?? '').split(' ').filter(Boolean);
  const found = COMBINATIONS.find((combination) => combination.engine === engine && combination.isolation === isolation);
  if (found === undefined) throw new Error(`There is no engine ${engine} in isolation ${isolation}.`);
  return found;
}

/** Its options, for suites that can be run for any of them. */
export function optionsUnderTest(): Pick<CodeModeOptions, 'engine' | 'isolation'> {
  return optionsFor(underTest());
}
