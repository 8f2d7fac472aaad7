// A file of a program: images as images, tables as tables, JSON as a tree, everything else as text. Nothing of a file is ever run: the server
// serves as an image only what is one, and SVG and HTML are text here. Not here: which files there are (model.ts).
import { useState } from 'preact/hooks';
import { bytes, csvRows, visible } from './format.ts';
import type { ArtifactFacts, Call } from './model.ts';

const MOST_TEXT = 200_000;
const MOST_ROWS = 200;
const MOST_COLUMNS = 30;

type Preview =
  | { readonly type: 'none' }
  | { readonly type: 'loading' }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' }
  | { readonly type: 'failed'; readonly why: string };

export function ArtifactView({ artifact, call }: { artifact: ArtifactFacts; call: Call | undefined }) {
  const [preview, setPreview] = useState<Preview>({ type: 'none' });
  const address = `artifacts/${encodeURIComponent(artifact.runId)}/${encodeURIComponent(artifact.id)}`;
  const name = artifact.name ?? artifact.id;
  const show = async (): Promise<void> => {
    if (preview.type !== 'none') return setPreview({ type: 'none' });
    if (/^image\/(png|jpeg|gif|webp)\b/i.test(artifact.mediaType)) return setPreview({ type: 'image' });
    setPreview({ type: 'loading' });
    try {
      const response = await fetch(address);
      const text = await response.text();
      setPreview(response.ok ? { type: 'text', text } : { type: 'failed', why: text });
    } catch {
      setPreview({ type: 'failed', why: 'The server does not answer.' });
    }
  };
  return (
    <section class="file" aria-label={`File ${visible(name)}`}>
      <div class="program-head">
        <h3>{visible(name)}</h3>
        <p class="dim">
          {visible(artifact.mediaType)}
          {artifact.bytes === undefined ? '' : `, ${bytes(artifact.bytes)}`}
          {call === undefined ? '' : `, from call ${call.number} (${visible(call.tool)})`}
        </p>
        <button type="button" aria-expanded={preview.type !== 'none'} onClick={() => void show()}>
          {preview.type === 'none' ? 'Show' : 'Hide'}
        </button>
      </div>
      {preview.type === 'loading' ? <p>Reading…</p> : null}
      {preview.type === 'failed' ? <p class="note">{visible(preview.why)}</p> : null}
      {preview.type === 'image' ? (
        <img src={address} alt={visible(name)} onError={() => setPreview({ type: 'failed', why: 'This is no image that can be shown.' })} />
      ) : null}
      {preview.type === 'text' ? <TextPreview text={preview.text} mediaType={artifact.mediaType} name={name} /> : null}
    </section>
  );
}

function TextPreview({ text, mediaType, name }: { text: string; mediaType: string; name: string }) {
  if (/^text\/csv\b/i.test(mediaType) || /\.csv$/i.test(name)) return <Table rows={csvRows(text, MOST_ROWS + 1)} />;
  if (/\bjson\b/i.test(mediaType) || /\.json$/i.test(name)) {
    const value = parse(text);
    if (value !== undefined) return <JsonTree value={value.value} name="" depth={0} />;
  }
  return (
    <>
      <pre>{visible(text.slice(0, MOST_TEXT))}</pre>
      {text.length > MOST_TEXT ? <p class="dim">The rest is not shown.</p> : null}
    </>
  );
}

function Table({ rows }: { rows: readonly (readonly string[])[] }) {
  const [head = [], ...body] = rows;
  const cells = (row: readonly string[]): readonly string[] => row.slice(0, MOST_COLUMNS);
  return (
    <div class="table" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>
            {cells(head).map((cell, index) => (
              <th key={index} scope="col">
                {visible(cell)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {body.slice(0, MOST_ROWS).map((row, index) => (
            <tr key={index}>
              {cells(row).map((cell, column) => (
                <td key={column}>{visible(cell)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {body.length >= MOST_ROWS || head.length > MOST_COLUMNS ? <p class="dim">The rest is not shown.</p> : null}
    </div>
  );
}

/** Entries of one object or array that are drawn. */
const MOST_ENTRIES = 200;
/** Deeper ones are closed until somebody opens them. */
const OPEN_DEPTH = 2;

function JsonTree({ value, name, depth }: { value: unknown; name: string; depth: number }) {
  const [isOpen, setOpen] = useState(depth < OPEN_DEPTH);
  const label = name === '' ? null : <span class="key">{visible(name)}: </span>;
  if (typeof value !== 'object' || value === null) {
    return (
      <div class="json">
        {label}
        <span class="scalar">{visible(JSON.stringify(value) ?? '').slice(0, 5_000)}</span>
      </div>
    );
  }
  const entries = Object.entries(value);
  const what = Array.isArray(value) ? `[ ${entries.length} ]` : `{ ${entries.length} }`;
  return (
    <details class="json" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {label}
        <span class="dim">{what}</span>
      </summary>
      {isOpen
        ? entries.slice(0, MOST_ENTRIES).map(([key, entry]) => <JsonTree key={key} value={entry} name={key} depth={depth + 1} />)
        : null}
      {isOpen && entries.length > MOST_ENTRIES ? <p class="dim">{entries.length - MOST_ENTRIES} more are not shown.</p> : null}
    </details>
  );
}

function parse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
