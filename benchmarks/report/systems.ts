// Whose figure it is, which decides where it stands and in what colour: ours, the floor, another system, or something to compare with.
import type { Result } from '../harness/result.ts';

/** A system as peers/peers.ts has it, as far as the report needs it. */
export interface System {
  readonly name: string;
  /** Where guest code runs. */
  readonly where: string;
}

type Kind = 'ours' | 'floor' | 'peer' | 'reference';

export interface Subjects {
  readonly systems: readonly System[];
  kindOf(subject: string): Kind;
  /** Peers in the order of peers.ts, then those of single questions. */
  readonly peers: readonly string[];
  versionOf(system: System): string | undefined;
}

/** As npm knows those that have a shorter name here. */
const PACKAGES: Readonly<Record<string, string>> = {
  'tanstack-quickjs': '@tanstack/ai-isolate-quickjs',
  'tanstack-node': '@tanstack/ai-isolate-node',
  utcp: '@utcp/code-mode',
};

/** The package's own name begins the names of all its isolations and engines. */
const OURS = /^callgate\b/;

export function subjectsOf(results: readonly Result[], systems: readonly System[]): Subjects {
  const versions: Record<string, string> = Object.assign({}, ...results.map((result) => result.versions));
  const floors = new Set(
    results.flatMap(({ parts }) => parts.flatMap((part) => (part.kind === 'comparison' && part.floor !== undefined ? [part.floor] : []))),
  );
  const ours = new Set(results.flatMap(({ parts }) => parts.flatMap((part) => (part.kind === 'comparison' ? [part.ours] : []))));
  const isFloor = (subject: string): boolean =>
    floors.has(subject) || /no isolation/.test(systems.find(({ name }) => name === subject)?.where ?? '');
  /** Systems, and packages that take part in single questions, also with more words behind their name. */
  const isPeer = (subject: string): boolean =>
    systems.some(({ name }) => name === subject) ||
    Object.keys(versions).some((name) => subject === name || subject.startsWith(`${name}, `));
  const kindOf = (subject: string): Kind => {
    if (OURS.test(subject) || ours.has(subject)) return 'ours';
    if (isFloor(subject)) return 'floor';
    return isPeer(subject) ? 'peer' : 'reference';
  };
  const all = results.flatMap(({ parts }) =>
    parts.flatMap((part) => {
      if (part.kind === 'comparison') return part.rows.map(({ subject }) => subject);
      return part.kind === 'curve' ? part.lines.map(({ subject }) => subject) : [];
    }),
  );
  return {
    systems,
    kindOf,
    peers: [...new Set([...systems.map(({ name }) => name), ...all])].filter((subject) => kindOf(subject) === 'peer'),
    versionOf: ({ name }) => {
      // `quickjs-wasi, snapshot` is a way to use quickjs-wasi.
      const own = name.split(', ')[0] as string;
      return versions[PACKAGES[own] ?? own];
    },
  };
}
