// What the bare engines share: they run a script and call a host function, and nothing else. So the program becomes an async function, each tool a
// function of the guest that hands JSON to the host and reads JSON from it; bytes cross as bytes, as every engine can. Nothing is checked.
import { bridged, type Leaf, leaves, type Setup, type Tools } from './peer.ts';

/** What crosses: a value as its JSON, bytes as themselves, nothing as nothing. */
export type Packed = string | Uint8Array | undefined;

function pack(value: unknown): Packed {
  return value instanceof Uint8Array ? value : JSON.stringify(value);
}

export function unpack(packed: Packed): unknown {
  return typeof packed === 'string' ? JSON.parse(packed) : packed;
}

/** Says in a script of the guest how tools are called: `host.NAME(input)`, by way of a function `call(index, packed)` that gives a promise. */
export function guestTools(tools: Tools): string {
  const members = leaves(tools).map(({ identifier }, index) => `${identifier}: async (input) => unpack(await call(${index}, pack(input)))`);
  return `
const pack = (value) => (value instanceof Uint8Array ? value : JSON.stringify(value));
const unpack = (packed) => (typeof packed === 'string' ? JSON.parse(packed) : packed);
const host = { ${members.join(', ')} };`;
}

/** The program as an expression: a promise of its packed value. */
export function guestProgram(source: string, setup: Setup): string {
  return `(async () => { ${bridged(source, setup, (identifier) => `host.${identifier}`)}\n})().then(pack)`;
}

/** Carries out `call(index, packed)`. */
export function hostCall(tools: Tools): (index: number, packed: Packed) => Promise<Packed> {
  const list: readonly Leaf[] = leaves(tools);
  return async (index, packed) => {
    const leaf = list[index];
    if (leaf === undefined) throw new Error(`There is no tool ${index}.`);
    return pack(await leaf.execute(unpack(packed)));
  };
}
