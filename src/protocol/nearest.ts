// Did you mean …? The known names that a misspelt one most likely stands for. Runs on every side, so it keeps its own copies
// of the intrinsics that it uses. Not here: who says so, and in what words.

const { apply, setPrototypeOf } = Reflect;
const arrayPrototype = Array.prototype;
const { abs, floor, max, min } = Math;
const charCodeAt = String.prototype.charCodeAt;
const indexOf = String.prototype.indexOf;
const toLowerCase = String.prototype.toLowerCase;
const slice = String.prototype.slice;

/** Names longer than this are compared by their beginning only: the work grows with the product of the lengths. */
const LONGEST = 80;
/** Candidates looked at; a catalog has a thousand or two. */
const MOST_CANDIDATES = 5_000;

/**
 * The names of `known` nearest to `name`, best first: letters changed, swapped, dropped or added, a part left out, another
 * case or other separators. Empty when none is near enough to be meant.
 */
export function nearest(name: string, known: readonly string[], most = 3): string[] {
  const wanted = simplify(name);
  const found = list<{ name: string; distance: number }>();
  const allowed = max(1, floor(wanted.length / 3));
  for (let i = 0; i < known.length && i < MOST_CANDIDATES; i++) {
    const candidate = known[i] as string;
    const distance = distanceTo(wanted, simplify(candidate), allowed);
    if (distance > allowed) continue;
    insert(found, { name: candidate, distance }, most);
  }
  const names = list<string>();
  for (let i = 0; i < found.length; i++) names[i] = (found[i] as { name: string }).name;
  setPrototypeOf(names, arrayPrototype);
  return names;
}

function insert(found: { name: string; distance: number }[], item: { name: string; distance: number }, most: number): void {
  let at = found.length;
  while (at > 0 && (found[at - 1] as { distance: number }).distance > item.distance) at--;
  if (at >= most) return;
  for (let i = min(found.length, most - 1); i > at; i--) found[i] = found[i - 1] as { name: string; distance: number };
  found[at] = item;
}

/** How far two simplified names are apart; a name that is part of the other is near, whatever their lengths. */
function distanceTo(wanted: string, candidate: string, allowed: number): number {
  if (wanted === candidate) return 0;
  if (wanted.length >= 4 && candidate.length >= 4) {
    if (apply(indexOf, candidate, [wanted]) >= 0 || apply(indexOf, wanted, [candidate]) >= 0) return 1;
  }
  if (abs(wanted.length - candidate.length) > allowed) return allowed + 1;
  return editDistance(wanted, candidate, allowed);
}

/** `customer_id`, `customerId` and `Customer-ID` are one name to a writer in a hurry. */
function simplify(name: string): string {
  let simple = '';
  const lower = apply(toLowerCase, apply(slice, name, [0, LONGEST]), []);
  for (let i = 0; i < lower.length; i++) {
    const code = apply(charCodeAt, lower, [i]);
    if (code !== 95 && code !== 45 && code !== 46 && code !== 32) simple += lower[i];
  }
  return simple;
}

/** Optimal string alignment: insertions, deletions, changes, and swaps of neighbours, each at cost 1. Stops once it is over `allowed`. */
function editDistance(left: string, right: string, allowed: number): number {
  let beforePrevious = list<number>();
  let previous = list<number>();
  for (let column = 0; column <= right.length; column++) previous[column] = column;
  for (let row = 1; row <= left.length; row++) {
    const current = list<number>();
    current[0] = row;
    let lowest = row;
    for (let column = 1; column <= right.length; column++) {
      const changed = left[row - 1] === right[column - 1] ? 0 : 1;
      let cost = (previous[column - 1] as number) + changed;
      if ((previous[column] as number) + 1 < cost) cost = (previous[column] as number) + 1;
      if ((current[column - 1] as number) + 1 < cost) cost = (current[column - 1] as number) + 1;
      if (row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]) {
        const swapped = (beforePrevious[column - 2] as number) + 1;
        if (swapped < cost) cost = swapped;
      }
      current[column] = cost;
      if (cost < lowest) lowest = cost;
    }
    // A swap reaches one row further back, and adds one to what it finds there.
    if (lowest > allowed + 1) return lowest;
    beforePrevious = previous;
    previous = current;
  }
  return previous[right.length] as number;
}

/** A list without a prototype: a program may have put a setter on the indexes of Array.prototype. */
function list<T>(): T[] {
  const empty: T[] = [];
  setPrototypeOf(empty, null);
  return empty;
}
