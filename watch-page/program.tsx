// One program: its text with the calls at their lines, a waterfall of its calls, what it printed, how it ended, and its files.
// Not here: the list of programs (main.tsx), previews of files (artifact.tsx).
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { ArtifactView } from './artifact.tsx';
import { bytes, milliseconds, pretty, visible } from './format.ts';
import { type Call, type Captured, durationOf, type Model, type Program } from './model.ts';
import { VirtualList } from './virtual-list.tsx';

export const TABS = ['code', 'calls', 'output', 'result', 'files'] as const;
export type Tab = (typeof TABS)[number];

interface ProgramProps {
  readonly model: Model;
  readonly program: Program;
  readonly tab: Tab;
  onTab(tab: Tab): void;
  onBack(): void;
  onExport(): void;
}

export function ProgramView({ model, program, tab, onTab, onBack, onExport }: ProgramProps) {
  const counts: Readonly<Record<Tab, number | undefined>> = {
    code: undefined,
    calls: program.calls.length,
    output: program.output.length,
    result: program.warnings.length + (program.detail === undefined ? 0 : 1) || undefined,
    files: program.artifacts.length,
  };
  const tabs = useRef<HTMLDivElement>(null);
  const onKey = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    const next = TABS[(TABS.indexOf(tab) + step + TABS.length) % TABS.length] as Tab;
    onTab(next);
    tabs.current?.querySelector<HTMLElement>(`#tab-${next}`)?.focus();
    event.preventDefault();
  };
  return (
    <article class="program" aria-labelledby="program-title">
      <div class="program-head">
        <button type="button" class="quiet back" onClick={onBack}>
          ← Programs
        </button>
        <h2 id="program-title">Program {program.number}</h2>
        <Facts model={model} program={program} />
        <button type="button" onClick={onExport}>
          Export
        </button>
      </div>
      <div ref={tabs} class="tabs" role="tablist" aria-label="Views of the program" onKeyDown={onKey}>
        {TABS.map((name) => (
          <button
            key={name}
            id={`tab-${name}`}
            type="button"
            role="tab"
            aria-selected={name === tab}
            aria-controls="tab-panel"
            tabIndex={name === tab ? 0 : -1}
            onClick={() => onTab(name)}
          >
            {name[0]?.toUpperCase()}
            {name.slice(1)}
            {counts[name] === undefined ? null : <span class="count">{counts[name]}</span>}
          </button>
        ))}
      </div>
      <div id="tab-panel" class={`panel panel-${tab}`} role="tabpanel" aria-labelledby={`tab-${tab}`}>
        {tab === 'code' ? <Code program={program} model={model} /> : null}
        {tab === 'calls' ? <Waterfall program={program} model={model} /> : null}
        {tab === 'output' ? <OutputView program={program} /> : null}
        {tab === 'result' ? <ResultView program={program} /> : null}
        {tab === 'files' ? <Files program={program} /> : null}
      </div>
    </article>
  );
}

function Facts({ model, program }: { model: Model; program: Program }) {
  const run = model.runs.get(program.runId);
  const parked = program.parked.at(-1);
  const facts: [string, string][] = [
    ['status', visible(program.kind === undefined ? program.status : `${program.status} (${program.kind})`)],
    ['time', milliseconds(durationOf(model, program))],
    ...(program.cpuMs === undefined ? [] : ([['computing', milliseconds(program.cpuMs)]] as [string, string][])),
    ...(program.peakBytes === undefined ? [] : ([['memory', bytes(program.peakBytes)]] as [string, string][])),
    ...(parked !== undefined && parked.to === undefined ? ([['parked as', bytes(parked.bytes)]] as [string, string][]) : []),
    ...(run?.actor === undefined ? [] : ([['for', visible(run.actor)]] as [string, string][])),
    ...(run?.from === undefined ? [] : ([['from', visible(run.from)]] as [string, string][])),
  ];
  return (
    <dl class="facts-list">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Code({ program, model }: { program: Program; model: Model }) {
  const lines = useMemo(() => (program.source === undefined ? undefined : program.source.text.split(/\r\n|\r|\n/)), [program]);
  const byLine = new Map<number, Call[]>();
  for (const call of program.calls) {
    if (call.line === undefined) continue;
    const calls = byLine.get(call.line);
    if (calls === undefined) byLine.set(call.line, [call]);
    else calls.push(call);
  }
  if (lines === undefined)
    return (
      <p class="empty">The text of the program ({bytes(program.sourceBytes)}) was not captured: give code mode the option `capture`.</p>
    );
  return (
    <VirtualList
      items={lines}
      rowHeight={22}
      label="Text of the program"
      row={(line, index) => {
        const number = index + 1;
        const calls = byLine.get(number) ?? [];
        const isWrong = program.errorLine === number;
        return (
          <div class={`code-line${isWrong ? ' wrong' : ''}`}>
            <span class="gutter">{number}</span>
            <CallMark calls={calls} model={model} />
            <code>{visible(line) === '' ? ' ' : visible(line)}</code>
            {isWrong ? <span class="sr"> (the error is in this line)</span> : null}
          </div>
        );
      }}
    />
  );
}

/** How many calls a line made, and how they fare. */
function CallMark({ calls, model }: { calls: readonly Call[]; model: Model }) {
  if (calls.length === 0) return <span class="mark" />;
  const open = calls.filter(({ endedAt }) => endedAt === undefined).length;
  const bad = calls.filter(({ status }) => status === 'error' || status === 'refused').length;
  const longest = Math.max(...calls.slice(0, 1_000).map((call) => (call.endedAt ?? model.now) - call.queuedAt));
  const state = bad > 0 ? 'error' : open > 0 ? 'running' : 'ok';
  const words = `${calls.length} ${calls.length === 1 ? 'call' : 'calls'} of ${[...new Set(calls.map(({ tool }) => visible(tool)))].slice(0, 5).join(', ')}; ${open} open, ${bad} failed; the longest ${milliseconds(longest)}`;
  return (
    <span class={`mark ${state}`} title={words}>
      <span aria-hidden="true">
        {calls.length > 1 ? `${calls.length}× ` : ''}
        {milliseconds(longest)}
      </span>
      <span class="sr">{words}</span>
    </span>
  );
}

const CALL_HEIGHT = 28;

function Waterfall({ program, model }: { program: Program; model: Model }) {
  const [query, setQuery] = useState('');
  const [chosen, setChosen] = useState<string | undefined>(undefined);
  if (program.calls.length === 0) return <p class="empty">It has called no tool{program.status === 'running' ? ' yet' : ''}.</p>;
  const wanted = query.trim().toLowerCase();
  const calls =
    wanted === ''
      ? program.calls
      : program.calls.filter(({ tool, status }) => tool.toLowerCase().includes(wanted) || status.includes(wanted));
  const span = Math.max(durationOf(model, program), 0.001);
  const selected = chosen === undefined ? undefined : program.callsById.get(chosen);
  return (
    <div class="waterfall">
      <div class="filters">
        <input
          type="search"
          placeholder="Filter by tool or status"
          aria-label="Filter calls"
          value={query}
          onInput={(event) => setQuery(event.currentTarget.value)}
        />
        <p class="legend">
          <span class="swatch queued" /> queued <span class="swatch waiting" /> waits for slot or lock <span class="swatch running" /> runs{' '}
          <span class="swatch parked" /> program parked
        </p>
      </div>
      <VirtualList
        items={calls}
        rowHeight={CALL_HEIGHT}
        label="Calls over time"
        row={(call) => (
          <button
            type="button"
            class="call-row"
            aria-pressed={call.id === chosen}
            onClick={() => setChosen(call.id === chosen ? undefined : call.id)}
          >
            <span class="call-name">
              <span class={`badge ${call.status}`}>{call.status}</span> {visible(call.tool)}
              {call.line === undefined ? null : <span class="dim"> :{call.line}</span>}
            </span>
            <Bar call={call} program={program} model={model} span={span} />
            <span class="call-time">{milliseconds((call.endedAt ?? model.now) - call.queuedAt)}</span>
          </button>
        )}
      />
      {selected === undefined ? null : <CallDetail call={selected} onClose={() => setChosen(undefined)} />}
    </div>
  );
}

/** One call on the program's time: queued, waiting, running; and when the program was parked, behind them. */
function Bar({ call, program, model, span }: { call: Call; program: Program; model: Model; span: number }) {
  const end = call.endedAt ?? model.now;
  const started = call.startedAt ?? end;
  const waited = call.waitedAt ?? started;
  const piece = (from: number, to: number): Record<string, string> => ({
    left: `${(Math.max(0, from - program.startedAt) / span) * 100}%`,
    width: `${Math.max(0.15, (Math.max(0, to - from) / span) * 100)}%`,
  });
  return (
    <span class="bar" aria-hidden="true">
      {program.parked.slice(0, 200).map(({ from, to }) => (
        <span key={from} class="parked" style={piece(from, to ?? model.now)} />
      ))}
      <span class="queued" style={piece(call.queuedAt, Math.min(waited, started))} />
      {call.waitedAt === undefined ? null : <span class="waiting" style={piece(call.waitedAt, started)} />}
      {call.startedAt === undefined ? null : <span class={`running ${call.status}`} style={piece(call.startedAt, end)} />}
    </span>
  );
}

function CallDetail({ call, onClose }: { call: Call; onClose: () => void }) {
  return (
    <section class="call-detail" aria-label={`Call ${call.number}`}>
      <div class="program-head">
        <h3>
          Call {call.number}: {visible(call.tool)} <span class={`badge ${call.status}`}>{call.status}</span>
        </h3>
        <button type="button" class="quiet" onClick={onClose} aria-label="Close the call">
          ✕
        </button>
      </div>
      {call.waitsFor === undefined || call.waitedAt === undefined ? null : (
        <p>
          Waited for the {visible(call.waitsFor)}
          {call.startedAt === undefined ? '' : ` for ${milliseconds(call.startedAt - call.waitedAt)}`}.
        </p>
      )}
      {call.notes.map((note, index) => (
        <p key={index} class="note">
          {visible(note)}
        </p>
      ))}
      <Payload name="Input" captured={call.input} />
      <Payload name="Output" captured={call.output} />
      <Payload name="Error" captured={call.detail} />
    </section>
  );
}

/** Longest text that is drawn at once. */
const MOST_DRAWN = 200_000;

function Payload({ name, captured }: { name: string; captured: Captured | undefined }) {
  if (captured === undefined) return null;
  const text = pretty(captured.text);
  return (
    <>
      <h4>
        {name} <span class="dim">{bytes(captured.bytes)}</span>
      </h4>
      <pre>{visible(text.slice(0, MOST_DRAWN))}</pre>
      {captured.cut || text.length > MOST_DRAWN ? <p class="dim">The rest is not shown.</p> : null}
    </>
  );
}

function OutputView({ program }: { program: Program }) {
  const end = useRef<HTMLDivElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const count = program.output.length;
  useEffect(() => {
    const element = box.current;
    if (element !== null && element.scrollHeight - element.scrollTop - element.clientHeight < 200)
      end.current?.scrollIntoView({ block: 'nearest' });
  }, [count]);
  if (count === 0) return <p class="empty">It has printed nothing{program.status === 'running' ? ' yet' : ''}.</p>;
  const from = Math.max(0, count - 2_000);
  return (
    <div ref={box} class="output" tabIndex={0} role="log" aria-label="Output">
      {from > 0 ? <p class="dim">{from} earlier pieces are not shown.</p> : null}
      {program.output.slice(from).map(({ level, text, bytes: size, at }, index) => (
        <div key={from + index} class={`piece ${['warn', 'error'].includes(level) ? level : ''}`}>
          <span class="dim">
            +{milliseconds(at - program.startedAt)} {visible(level)}
          </span>
          <pre>{text === undefined ? `(${bytes(size)}, not captured)` : visible(text)}</pre>
        </div>
      ))}
      <div ref={end} />
    </div>
  );
}

function ResultView({ program }: { program: Program }) {
  const error = errorOf(program.detail);
  return (
    <div class="result" tabIndex={0} role="group" aria-label="Result">
      {program.status === 'running' ? <p>It is still running.</p> : null}
      {program.limits.map((limit) => (
        <p key={limit} class="note">
          Limit reached: {visible(limit)}
        </p>
      ))}
      {error === undefined ? null : (
        <section class="error">
          <h3>{visible(error.title)}</h3>
          <p class="message">{visible(error.message)}</p>
          {error.frame === undefined ? null : <pre>{visible(error.frame)}</pre>}
          {error.hint === undefined ? null : <p>Hint: {visible(error.hint)}</p>}
        </section>
      )}
      {program.warnings.length === 0 ? null : (
        <section>
          <h3>Warnings</h3>
          <ul>
            {program.warnings.map(({ message, line }, index) => (
              <li key={index}>
                {visible(message)}
                {line === undefined ? null : <span class="dim"> (line {line})</span>}
              </li>
            ))}
          </ul>
        </section>
      )}
      {program.value === undefined ? (
        program.status === 'completed' ? (
          <p class="dim">It gave no value, or it was not captured.</p>
        ) : null
      ) : (
        <Payload name="Value" captured={program.value} />
      )}
    </div>
  );
}

interface ShownError {
  readonly title: string;
  readonly message: string;
  readonly frame: string | undefined;
  readonly hint: string | undefined;
}

function errorOf(detail: Captured | undefined): ShownError | undefined {
  if (detail === undefined) return undefined;
  let value: Record<string, unknown> = {};
  try {
    const parsed: unknown = JSON.parse(detail.text);
    if (typeof parsed === 'object' && parsed !== null) value = parsed as Record<string, unknown>;
  } catch {
    // Cut, so no JSON: the text is what there is.
    return { title: 'Error', message: detail.text, frame: undefined, hint: undefined };
  }
  const said = (name: string): string | undefined => (typeof value[name] === 'string' ? (value[name] as string) : undefined);
  const place = typeof value['line'] === 'number' ? ` at line ${value['line']}` : '';
  return {
    title: `${said('name') ?? said('kind') ?? 'Error'}${place}`,
    message: said('message') ?? '',
    frame: said('frame'),
    hint: said('hint'),
  };
}

function Files({ program }: { program: Program }) {
  if (program.artifacts.length === 0) return <p class="empty">There are no files.</p>;
  return (
    <div class="files" tabIndex={0} role="group" aria-label="Files">
      {program.artifacts.slice(0, 500).map((artifact) => (
        <ArtifactView
          key={artifact.id}
          artifact={artifact}
          call={artifact.callId === undefined ? undefined : program.callsById.get(artifact.callId)}
        />
      ))}
    </div>
  );
}
