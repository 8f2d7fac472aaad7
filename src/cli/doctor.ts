// `callgate doctor`: what can run programs on this machine, what holds them, and how to get what is missing. Not here: finding it out, which
// is `codeMode.describe()`.
import { createCodeMode, type Description, LIMITS, type LimitName } from '../index.ts';
import { engineOf, type PlaceOptions } from './engine.ts';
import { printable } from './printable.ts';
import type { Terminal } from './terminal.ts';

export interface DoctorOptions extends PlaceOptions {
  readonly json?: boolean;
}

/** Prints what there is. Resolves to whether programs can be run as the options say. */
export async function doctor(options: DoctorOptions, { stdout }: Terminal): Promise<boolean> {
  const { isolation, sandbox, json } = options;
  await using codeMode = createCodeMode({ tools: [], engine: engineOf(options), isolation, sandbox });
  const description = await codeMode.describe();
  stdout.write(json === true ? `${JSON.stringify(description, null, 2)}\n` : printable(render(description)));
  return description.isolation !== undefined && description.missing.every(({ needed }) => !needed);
}

function render(description: Description): string {
  const { version, node, platform, arch, engines, sandbox, systemTools, typecheck, limits, missing } = description;
  const sections = [
    [`callgate ${version} on Node ${node}, ${platform} ${arch}`],
    [
      'Engines',
      ...table(
        engines.map(({ name, usable, versions, isolations }) => [
          name,
          usable ? 'usable' : 'not usable',
          `in ${isolations.join(', ')}`,
          Object.entries(versions)
            .map(([what, number]) => `${what} ${number}`)
            .join(', '),
        ]),
      ),
    ],
    [
      'This machine',
      ...table([
        [
          'sandbox',
          sandbox.usable ? 'usable' : 'not usable',
          sandbox.name === undefined ? '' : `${sandbox.name} ${sandbox.version ?? ''}`.trim(),
        ],
        ['limits of the system', systemTools.length > 0 ? 'usable' : 'none', systemTools.join(', ')],
        ['typecheck', typecheck.usable ? 'usable' : 'not usable', typecheck.version === undefined ? '' : `typescript ${typecheck.version}`],
      ]),
    ],
    ['In force, as asked for', ...renderIsolation(description)],
    ['Limits', ...table(Object.entries(limits).map(([name, value]) => [name, value.toLocaleString('en-US'), unitOf(name)]))],
    ...(missing.length === 0
      ? []
      : [['Missing', ...missing.map(({ what, how, needed }) => `  ${what}${needed ? ' (needed for what was asked)' : ''}: ${how}`)]]),
  ];
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function renderIsolation({ isolation }: Description): string[] {
  if (isolation === undefined) return ['  nothing: programs cannot be run like that here'];
  const { engine, kind, sandbox, systemLimits, notes } = isolation;
  return [
    ...table([
      ['engine', engine],
      ['isolation', kind],
      ['sandbox', sandbox],
      ['limits of the system', systemLimits.length === 0 ? 'none' : systemLimits.join(', ')],
    ]),
    ...notes.map((note) => `  ${note}`),
  ];
}

function unitOf(name: string): string {
  return LIMITS[name as LimitName].unit;
}

/** Rows with their cells under one another, indented. */
function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd());
}
