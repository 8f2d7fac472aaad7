// The page: the list of programs beside the one that is looked at, kept in the address, so that a link leads to the same view.
// Not here: what is known of programs (model.ts), one program (program.tsx).
import { render } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { bytes, counted, milliseconds, visible } from './format.ts';
import { durationOf, emptyModel, type Model, type Program, type Run } from './model.ts';
import { ProgramView, TABS, type Tab } from './program.tsx';
import { type Connection, follow } from './stream.ts';
import { VirtualList } from './virtual-list.tsx';

/** What the address says: `#/PROGRAM/TAB`. */
interface Place {
  readonly program: string | undefined;
  readonly tab: Tab;
}

function placeOf(hash: string): Place {
  const [, program = '', tab = ''] = hash.replace(/^#/, '').split('/');
  let id: string | undefined;
  try {
    id = program === '' ? undefined : decodeURIComponent(program);
  } catch {
    id = undefined;
  }
  return { program: id, tab: (TABS as readonly string[]).includes(tab) ? (tab as Tab) : 'code' };
}

function go(program: string | undefined, tab: Tab = 'code'): void {
  location.hash = program === undefined ? '' : `/${encodeURIComponent(program)}/${tab}`;
}

const STATUSES = ['all', 'running', 'completed', 'error', 'terminated'] as const;
type StatusFilter = (typeof STATUSES)[number];

function Page() {
  const [{ model, connection, version }, setState] = useState({ model: emptyModel(), connection: 'connecting' as Connection, version: 0 });
  const [place, setPlace] = useState(() => placeOf(location.hash));
  const [query, setQuery] = useState('');
  const [status, setStatus] = useState<StatusFilter>('all');
  const [isHelpOpen, setHelpOpen] = useState(false);
  const search = useRef<HTMLInputElement>(null);

  useEffect(() => follow((next, now) => setState((before) => ({ model: next, connection: now, version: before.version + 1 }))), []);
  useEffect(() => {
    const onHash = (): void => setPlace(placeOf(location.hash));
    addEventListener('hashchange', onHash);
    return () => removeEventListener('hashchange', onHash);
  }, []);

  const shown = useMemo(() => filtered(model, query, status), [model, version, query, status]);
  const selected = place.program === undefined ? undefined : model.programs.get(place.program);

  const latest = useRef({ shown, selected, place });
  latest.current = { shown, selected, place };
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
      if (event.key === 'Escape') {
        if (isTyping) (event.target as HTMLElement).blur();
        else if (document.querySelector('dialog[open]') === null) go(undefined);
        return;
      }
      if (isTyping) return;
      const { shown: list, selected: current, place: at } = latest.current;
      const step = event.key === 'j' ? 1 : event.key === 'k' ? -1 : 0;
      const tab = TABS[Number(event.key) - 1];
      if (step !== 0 && list.length > 0) {
        const index = current === undefined ? (step > 0 ? -1 : list.length) : list.indexOf(current);
        go(list[Math.min(list.length - 1, Math.max(0, index + step))]?.id, at.tab);
      } else if (event.key === '/') search.current?.focus();
      else if (event.key === '?') setHelpOpen(true);
      else if (event.key === 'e' && current !== undefined) exportProgram(current);
      else if (tab !== undefined && current !== undefined) go(current.id, tab);
      else return;
      event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);

  return (
    <div class={`page${selected === undefined ? '' : ' has-selection'}`}>
      <header class="top">
        <h1>callgate</h1>
        <Totals model={model} connection={connection} />
        <button type="button" class="quiet" onClick={() => setHelpOpen(true)} aria-label="Keyboard help">
          ?
        </button>
      </header>
      <div class="panes">
        <nav class="list" aria-label="Programs">
          <div class="filters">
            <input
              ref={search}
              type="search"
              placeholder="Search programs, tools, output  ( / )"
              aria-label="Search programs"
              value={query}
              onInput={(event) => setQuery(event.currentTarget.value)}
            />
            <select aria-label="Status" value={status} onChange={(event) => setStatus(event.currentTarget.value as StatusFilter)}>
              {STATUSES.map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          </div>
          {shown.length === 0 ? (
            <p class="empty">
              {model.ordered.length === 0 ? 'No program has run yet. They appear here as they start.' : 'No program fits.'}
            </p>
          ) : (
            <VirtualList
              items={shown}
              rowHeight={56}
              label="Programs"
              selected={selected === undefined ? -1 : shown.indexOf(selected)}
              row={(program) => (
                <ProgramRow key={program.id} program={program} model={model} tab={place.tab} isSelected={program === selected} />
              )}
            />
          )}
        </nav>
        <main class="detail">
          {selected === undefined ? (
            <p class="empty">
              {place.program === undefined ? 'Choose a program, or press j.' : 'This program is not here, or not any more.'}
            </p>
          ) : (
            <ProgramView
              model={model}
              program={selected}
              tab={place.tab}
              onTab={(tab) => go(selected.id, tab)}
              onBack={() => go(undefined)}
              onExport={() => exportProgram(selected)}
            />
          )}
        </main>
      </div>
      <Help isOpen={isHelpOpen} onClose={() => setHelpOpen(false)} />
    </div>
  );
}

function Totals({ model, connection }: { model: Model; connection: Connection }) {
  let running = 0;
  let failed = 0;
  let calls = 0;
  for (const program of model.ordered) {
    if (program.status === 'running') running++;
    else if (program.status === 'error') failed++;
    calls += program.calls.length;
  }
  const parts = [counted(model.ordered.length, 'program'), `${running} running`, `${failed} failed`, counted(calls, 'call')];
  if (model.dropped > 0) parts.push(`${model.dropped} events lost`);
  return (
    <p class="totals">
      <span class={`dot ${connection}`} aria-hidden="true" />
      <span class="sr">{connection === 'open' ? 'Live.' : connection === 'lost' ? 'Connection lost.' : 'Connecting.'}</span>
      {connection === 'lost' ? <strong>connection lost </strong> : null}
      {parts.join(' · ')}
    </p>
  );
}

function ProgramRow({ program, model, tab, isSelected }: { program: Program; model: Model; tab: Tab; isSelected: boolean }) {
  const run: Run | undefined = model.runs.get(program.runId);
  const title = program.status === 'conversation' ? 'Conversation' : firstLine(program);
  const facts = [
    milliseconds(durationOf(model, program)),
    counted(program.calls.length, 'call'),
    ...(program.peakBytes === undefined ? [] : [bytes(program.peakBytes)]),
    ...(run?.actor === undefined ? [] : [visible(run.actor)]),
  ];
  return (
    <a
      class="program-row"
      href={`#/${encodeURIComponent(program.id)}/${tab}`}
      aria-current={isSelected ? 'true' : undefined}
      title={new Date(program.startedTime).toLocaleString()}
    >
      <span class="number">{program.number}</span>
      <span class={`badge ${statusClass(program.status)}`}>{visible(program.kind ?? program.status)}</span>
      <span class="title">{title}</span>
      <span class="facts">{facts.join(' · ')}</span>
    </a>
  );
}

function statusClass(status: string): string {
  return ['running', 'completed', 'error', 'terminated'].includes(status) ? status : 'other';
}

/** The first line that says something. */
function firstLine({ source, id }: Program): string {
  for (const line of (source?.text ?? '').split('\n', 20)) {
    const said = line.trim();
    if (said !== '' && !said.startsWith('```') && !/^\/\/$|^\/\*+$|^['"]use strict/.test(said))
      return visible(said.replace(/^\/\/\s*/, '').slice(0, 200));
  }
  return visible(id);
}

function filtered(model: Model, query: string, status: StatusFilter): Program[] {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const found: Program[] = [];
  // The newest first.
  for (let i = model.ordered.length - 1; i >= 0; i--) {
    const program = model.ordered[i] as Program;
    if (status !== 'all' && program.status !== status) continue;
    if (words.every((word) => holds(model, program, word))) found.push(program);
  }
  return found;
}

function holds({ runs }: Model, program: Program, word: string): boolean {
  return (
    program.id.includes(word) ||
    program.runId.includes(word) ||
    (runs.get(program.runId)?.actor?.toLowerCase().includes(word) ?? false) ||
    (program.kind ?? program.status).includes(word) ||
    (program.source?.text.toLowerCase().includes(word) ?? false) ||
    program.calls.some(({ tool }) => tool.toLowerCase().includes(word)) ||
    program.output.some(({ text }) => text?.toLowerCase().includes(word) ?? false)
  );
}

/** The program as the page knows it, as a file. */
function exportProgram(program: Program): void {
  const { callsById: _, ...rest } = program;
  const url = URL.createObjectURL(new Blob([JSON.stringify(rest, null, 2)], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `program-${program.number}.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

function Help({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen]);
  const keys: readonly (readonly [string, string])[] = [
    ['j, k', 'next program, the one before'],
    ['1 to 5', 'code, calls, output, result, files'],
    ['/', 'search'],
    ['e', 'export the program as JSON'],
    ['Esc', 'back to the list'],
    ['?', 'this help'],
  ];
  return (
    <dialog ref={dialog} aria-labelledby="help-title" onClose={onClose}>
      <h2 id="help-title">Keyboard</h2>
      <dl>
        {keys.map(([key, meaning]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <button type="button" onClick={onClose}>
        Close
      </button>
    </dialog>
  );
}

const root = document.getElementById('page');
if (root !== null) render(<Page />, root);
