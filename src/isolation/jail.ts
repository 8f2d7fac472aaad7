// The far side of a channel: holds the realms, enters one guest at a time and signs what it says about it. Runs in a worker
// thread, or inline. It prepares and diagnoses programs too, so that no text of a model is parsed on the host's own thread.
// Not here: which program gets this worker (scheduler.ts), how a realm works (engine/).
import type { Budget, Engine, Outcome, Realm } from '../engine/engine.ts';
import {
  type Diagnosis,
  type HostEnvelope,
  type Manifest,
  type StartOptions,
  seal,
  sealTurn,
  splitManifest,
  unseal,
  type Warning,
  type WorkerEnvelope,
} from '../protocol/messages.ts';
import type { Channel } from './channel.ts';
import { costOf } from './frames.ts';

/** Longest line of an envelope: its warnings are what is long. */
const ENVELOPE_BYTES = 1024 * 1024;
/** For a turn whose calls and output do not fit one message. */
const TOO_MUCH: Diagnosis = {
  name: 'RangeError',
  message:
    'The program said more at once than can leave a child process: all calls, output and values of one turn together. Make fewer or smaller calls at once, and await them in between.',
  stack: '',
};

/** The program that is in this worker. */
interface Inmate {
  readonly id: number;
  readonly realm: Realm;
  readonly options: StartOptions;
  cpuMs: number;
}

/** What the host needs to lead places back by itself. */
interface Prepared {
  readonly code: string;
  readonly map: readonly number[];
}

type PrepareModule = typeof import('../program/prepare.ts');
type DiagnoseModule = typeof import('../program/diagnose.ts');

/** Serves the host at the other end of `channel` until that end closes it. `fault` is told what must not happen: then this side is done. */
export function serveJail(channel: Channel, engine: Engine, fault: (error: unknown) => void): void {
  /** One per memory size, most recently used last. */
  const realms = new Map<number, Realm>();
  const carriesBytes = engine.carriesBytes === true && channel.carriesBytes === true;
  const flatNames = new Map<string, FlatNames>();
  let inmate: Inmate | undefined;
  // The parser is big: loaded while the worker starts, and waited for by whoever comes sooner.
  let parser: Promise<[PrepareModule, DiagnoseModule]> | undefined;
  const loadParser = (): Promise<[PrepareModule, DiagnoseModule]> =>
    (parser ??= Promise.all([import('../program/prepare.ts'), import('../program/diagnose.ts')]));

  function say(envelope: WorkerEnvelope, body?: string, image?: ArrayBuffer, beside?: readonly ArrayBuffer[]): void {
    channel.send(seal(envelope, body), image, beside);
  }

  async function openRealm(memoryBytes: number): Promise<Realm> {
    let realm = realms.get(memoryBytes);
    if (realm === undefined) {
      realm = await engine.open(memoryBytes);
      realm.carriesBytes = carriesBytes;
      realm.canBeEnded = channel.canBeEnded === true;
    } else realms.delete(memoryBytes);
    realms.set(memoryBytes, realm);
    for (const [size, oldest] of realms) {
      if (realms.size <= engine.mostRealms) break;
      oldest.dispose();
      realms.delete(size);
    }
    return realm;
  }

  /** Answers an entry, and frees the realm when it was the program's last. */
  function report(
    current: Inmate,
    outcome: Outcome,
    began: number,
    warnings: readonly Warning[],
    prepared?: Prepared,
  ): Promise<void> | undefined {
    const cpuMs = performance.now() - began;
    current.cpuMs += cpuMs;
    const peakBytes = current.realm.peakBytes();
    const base = () =>
      ({
        type: 'turn',
        id: current.id,
        cpuMs,
        peakBytes,
        ...(warnings.length > 0 ? { warnings } : {}),
        ...(prepared === undefined ? {} : { prepared }),
      }) as const;
    switch (outcome.type) {
      case 'lines': {
        if (!fits(outcome.lines, outcome.beside)) {
          say({ ...base(), fate: 'dead', kind: 'limit', diagnosis: TOO_MUCH });
          release(current);
          return undefined;
        }
        const done = endsProgram(outcome.lines);
        const fate = done ? 'done' : 'live';
        if (outcome.starved || warnings.length > 0 || prepared !== undefined)
          say({ ...base(), fate, ...(outcome.starved ? { starved: true } : {}) }, outcome.lines, undefined, outcome.beside);
        else channel.send(sealTurn({ id: current.id, cpuMs, peakBytes, fate }, outcome.lines), undefined, outcome.beside);
        return done ? releaseLater(current) : undefined;
      }
      case 'syntax':
        throw new Error('An entry after the first cannot be a syntax error.');
      case 'dead':
        say(
          {
            ...base(),
            fate: 'dead',
            kind: outcome.kind,
            ...(outcome.limit === undefined ? {} : { limit: outcome.limit }),
            ...(outcome.spent === undefined ? {} : { spent: outcome.spent }),
          },
          fits(outcome.output) ? outcome.output : '',
        );
        // A worker that is to go is not tidied up: that could be what takes it down, before it has been heard.
        if (outcome.spent === undefined) release(current);
        return undefined;
    }
  }

  /** Whether what a guest said can be carried to the host in one message. */
  function fits(lines: string, beside: readonly ArrayBuffer[] = []): boolean {
    const { mostBytes } = channel;
    if (mostBytes === undefined) return true;
    if (costOf(beside) > mostBytes) return false;
    const most = mostBytes - ENVELOPE_BYTES;
    return lines.length * 3 <= most || Buffer.byteLength(lines) <= most;
  }

  function admit(current: Inmate): void {
    inmate = current;
    current.realm.onOutput = (lines) => {
      if (fits(lines)) say({ type: 'output', id: current.id }, lines);
    };
  }

  function release(current: Inmate): void {
    inmate = undefined;
    current.realm.onOutput = undefined;
    if (current.realm.reset()) return;
    current.realm.dispose();
    for (const [size, realm] of realms) if (realm === current.realm) realms.delete(size);
  }

  /** Tidies up when the program's last words are on their way: a long message leaves in pieces, and the host would wait for the last. */
  function releaseLater(current: Inmate): Promise<void> | undefined {
    const departure = channel.departure?.();
    if (departure !== undefined) return departure.then(() => release(current));
    release(current);
    return undefined;
  }

  function enter(current: Inmate, work: (budget: Budget) => Outcome, warnings: readonly Warning[] = []): Promise<void> | undefined {
    const began = performance.now();
    const { options } = current;
    const budget: Budget = { cpuMs: options.cpuMs - current.cpuMs, sliceMs: options.sliceMs, deadline: options.deadline };
    return report(current, work(budget), began, warnings);
  }

  async function start(envelope: Extract<HostEnvelope, { type: 'start' }>, source: string): Promise<void> {
    const { id, catalog } = envelope;
    const [{ prepare }, { codeFrame }] = await loadParser();
    const realm = await openRealm(envelope.memoryBytes);
    // From here on it is the program's own time.
    const began = performance.now();
    const refuse = (error: { message: string; line?: number; column?: number; hint?: string }): void => {
      const { line, column } = error;
      const frame = line === undefined || column === undefined ? undefined : codeFrame(source, { line, column });
      say({
        type: 'turn',
        id,
        cpuMs: performance.now() - began,
        peakBytes: 0,
        fate: 'dead',
        kind: 'syntax',
        diagnosis: { name: 'SyntaxError', stack: '', ...error, ...(frame === undefined ? {} : { frame }) },
      });
    };
    const prepared = prepare(source);
    if (!prepared.ok) return refuse(prepared.error);
    const { program } = prepared;
    const current: Inmate = { id, realm, options: envelope, cpuMs: 0 };
    admit(current);
    const outcome = realm.start(catalog, { code: program.code, aliases: findAliases(source, flatNames.get(catalog)) }, envelope, {
      cpuMs: envelope.cpuMs - (performance.now() - began),
      sliceMs: envelope.sliceMs,
      deadline: envelope.deadline,
    });
    if (outcome.type === 'syntax') {
      release(current);
      const place = outcome.line === undefined ? undefined : program.locate(outcome.line, outcome.column ?? 1);
      return refuse({ message: outcome.message, ...(place ?? {}) });
    }
    const { code, map } = program;
    return report(current, outcome, began, program.warnings, envelope.guest.places ? { code, map } : undefined);
  }

  async function resume(
    envelope: Extract<HostEnvelope, { type: 'resume' }>,
    body: string,
    image: ArrayBuffer | undefined,
    beside: readonly ArrayBuffer[] | undefined,
  ): Promise<void> {
    if (image === undefined) throw new Error('A program was to be resumed without its image.');
    const realm = await openRealm(envelope.memoryBytes);
    if (realm.resume === undefined) throw new Error('A program was to be resumed by an engine that has no images.');
    const resumeRealm = realm.resume.bind(realm);
    const current: Inmate = { id: envelope.id, realm, options: envelope, cpuMs: envelope.usedMs };
    admit(current);
    await enter(current, (budget) => resumeRealm(envelope.catalog, image, body, envelope, budget, beside));
  }

  async function explain(envelope: Extract<HostEnvelope, { type: 'diagnose' }>, source: string): Promise<void> {
    const [{ prepare }, { diagnose, framePosition }] = await loadParser();
    const prepared = prepare(source);
    const program = prepared.ok ? prepared.program : undefined;
    const places = envelope.stacks.map((stack) => framePosition(stack, program) ?? null);
    const diagnosis =
      envelope.error === undefined
        ? undefined
        : diagnose(envelope.error, { source, tools: envelope.tools, ...(program === undefined ? {} : { program }) });
    say({ type: 'diagnosis', id: envelope.id, places, ...(diagnosis === undefined ? {} : { diagnosis }) });
  }

  /** Gives a promise only where it takes a moment. */
  function receive(text: string, image: ArrayBuffer | undefined, beside: readonly ArrayBuffer[] | undefined): Promise<void> | undefined {
    const { envelope, body } = unseal<HostEnvelope>(text);
    switch (envelope.type) {
      case 'catalog':
        engine.addCatalog(envelope.catalog, body);
        flatNames.set(envelope.catalog, readFlatNames(body));
        return undefined;
      case 'forget':
        engine.removeCatalog(envelope.catalog);
        flatNames.delete(envelope.catalog);
        return undefined;
      case 'start':
        return start(envelope, body);
      case 'post': {
        const current = expected(envelope.id);
        return enter(current, (budget) => current.realm.post(body, budget, beside));
      }
      case 'resume':
        return resume(envelope, body, image, beside);
      case 'park': {
        const current = expected(envelope.id);
        const parked = current.realm.park?.(channel.mostBytes ?? Number.POSITIVE_INFINITY);
        say({ type: 'parked', id: envelope.id }, '', parked);
        if (parked !== undefined) release(current);
        return undefined;
      }
      case 'drop': {
        if (inmate?.id === envelope.id) release(inmate);
        return undefined;
      }
      case 'diagnose':
        return explain(envelope, body);
      default:
        return envelope satisfies never;
    }
  }

  function expected(id: number): Inmate {
    if (inmate?.id !== id) throw new Error(`Program ${id} is not in this worker.`);
    return inmate;
  }

  // One message at a time: some need an import or a new realm, which take a moment.
  let queue: Promise<void> | undefined;
  channel.onMessage = (text, image, beside) => {
    const work = (): Promise<void> | undefined => receive(text, image, beside);
    let working: Promise<void> | undefined;
    try {
      working = queue === undefined ? work() : queue.then(work);
    } catch (error) {
      fault(error);
    }
    if (working === undefined) return;
    const mine = working.catch(fault).finally(() => {
      if (queue === mine) queue = undefined;
    });
    queue = mine;
  };
  // Not before the parser is there: the first program's time, and the watchdog's patience, would go into loading it.
  loadParser().then(() => say({ type: 'ready', build: engine.build, parks: engine.parks, ...(carriesBytes && { bytes: true }) }), fault);
}

/** Whether the last line says that the program has ended. Guest text is looked at, not believed: the host decodes it. */
function endsProgram(lines: string): boolean {
  const last = lines.slice(lines.lastIndexOf('\n') + 1, lines.lastIndexOf('\n') + 6);
  return last === 'done ' || last === 'fail ';
}

/** Tools by the names that models who learned on other systems give them: `github_list_issues`, `external_github_list_issues`. */
type FlatNames = ReadonlyMap<string, number>;

function readFlatNames(manifest: string): FlatNames {
  const { tools } = JSON.parse(splitManifest(manifest).manifest) as Manifest;
  return new Map(tools.map(({ path }, index) => [path.join('_'), index]));
}

/** The flat names that a text calls or passes on. A name too many does no harm: it is a global that nobody uses. */
function findAliases(source: string, flatNames: FlatNames | undefined): (readonly [string, number])[] {
  const aliases = new Map<string, number>();
  if (flatNames === undefined || !source.includes('_')) return [];
  for (const [name] of source.matchAll(/\b[A-Za-z]\w*_\w*/g)) {
    const index = flatNames.get(name) ?? (name.startsWith('external_') ? flatNames.get(name.slice(9)) : undefined);
    if (index !== undefined) aliases.set(name, index);
  }
  return [...aliases];
}
