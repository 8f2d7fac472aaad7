// How many programs run right as a model would write them? The program patterns of ../shared/programs on this library and on the peers that are
// whole systems. Not a question of speed: every pattern is run once by each, what fails once more in a process of its own.
//
//   npm run bench -- first-try -- --why callgate run      two of them, with what is wrong with each failure
import { Attempts } from '../first-try/attempt.ts';
import { type Pattern, readPatterns } from '../first-try/pattern.ts';
import { SYSTEMS, type System } from '../first-try/systems.ts';
import type { Question } from '../harness/question.ts';
import { OURS } from '../peers/peers.ts';

const AT_ONCE = 2;

/** For each pattern that was asked what is wrong, or `undefined`. */
type Verdicts = ReadonlyMap<Pattern, string | undefined>;

export const question: Question = {
  name: 'first-try',
  asks: 'How many programs run right, first time, as a model would write them?',
  // Programs may take their process with them: the harness keeps none of these.
  subjects: {},
  async run(bench) {
    const asksWhy = bench.args[0] === '--why';
    const names = asksWhy ? bench.args.slice(1) : [];
    const strange = names.filter((name) => !SYSTEMS.some(({ peer }) => peer.name === name));
    if (strange.length > 0)
      throw new Error(`There is no ${strange.join(', ')}; known are ${SYSTEMS.map(({ peer }) => peer.name).join(', ')}.`);
    const all = readPatterns();
    if (all === undefined)
      return bench.note('Not asked: it needs the program patterns, which lie beside the repository, in ../shared/programs.');
    const patterns = bench.isSmoke ? all.filter((_, index) => index % 30 === 0) : all;
    const verdicts = new Map<System, Verdicts>();
    for (const system of SYSTEMS) {
      if (names.length > 0 && !names.includes(system.peer.name)) continue;
      try {
        verdicts.set(system, await attemptAll(system, patterns));
      } catch (error) {
        bench.absent(system.peer.name, error instanceof Error ? error.message : String(error));
      }
    }
    const kinds = [...new Set(patterns.map(({ group }) => group))];
    const row = (title: string, isMember: (pattern: Pattern) => boolean): string[] => [
      title,
      ...[...verdicts.values()].map((verdict) => share([...verdict].filter(([pattern]) => isMember(pattern)).map(([, wrong]) => wrong))),
    ];
    bench.table({
      title: 'Programs that run right, by kind',
      head: ['kind', ...[...verdicts.keys()].map(({ peer }) => peer.name)],
      rows: [...kinds.map((kind) => row(kind, ({ group }) => group === kind)), row('all', () => true)],
    });
    for (const [{ peer }, verdict] of verdicts) {
      const failed = [...verdict].filter(([, wrong]) => wrong !== undefined);
      bench.note(
        failed.length === 0
          ? `${peer.name}: none fails.`
          : `${peer.name}: ${failed.length} fail: ${failed.map(([{ id }]) => id).join(' ')}.`,
      );
      if (asksWhy) for (const [{ id, slug }, wrong] of failed) console.log(`${peer.name} ${id} ${slug}: ${wrong?.slice(0, 400)}`);
      if (peer.name === OURS) bench.aim({ what: 'patterns that fail on this library', value: failed.length, atMost: 0 });
    }
    bench.note(
      'Right means: the stated value, error, or output; where a pattern has no checkable value, neither a crash nor a hang; where it must be stopped, that the system stops it. Every system is told to give a program 3 s, has its own limits otherwise, and 5 s in all after it is loaded. Names of tools are bridged to the spelling of the patterns, behaviour is not. Of @cloudflare/codemode it is the normaliser of code alone that is asked, over node:vm.',
    );
  },
};

async function attemptAll(system: System, patterns: readonly Pattern[]): Promise<Verdicts> {
  const asked = patterns.filter((pattern) => system.asked(pattern));
  // Set first, in the order of the corpus, whatever the order in which they finish.
  const verdicts = new Map<Pattern, string | undefined>(asked.map((pattern) => [pattern, undefined]));
  const queue = asked.values();
  const lane = async (): Promise<void> => {
    const attempts = new Attempts(system);
    try {
      for (const pattern of queue) verdicts.set(pattern, await attempts.attempt(pattern));
    } finally {
      attempts.close();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return verdicts;
}

function share(verdicts: readonly (string | undefined)[]): string {
  if (verdicts.length === 0) return '–';
  const right = verdicts.filter((wrong) => wrong === undefined).length;
  return `${right}/${verdicts.length}, ${Math.floor((100 * right) / verdicts.length)} %`;
}
