// Where the names at the ends of lines stand, so that none covers another. Only heights: what is drawn there is plots.ts's.

/** Labels as near as can be to where they want to be, none nearer to another than the gap. */
export function apart<T extends { readonly wanted: number }>(
  all: readonly T[],
  top: number,
  bottom: number,
  gap: number,
): (T & { at: number })[] {
  const sorted = all.map((each) => ({ ...each, at: each.wanted })).sort((a, b) => a.wanted - b.wanted);
  // Groups that touch share their middle; joined until none touches.
  const groups = sorted.map((each) => ({ members: [each], middle: each.wanted }));
  for (let moved = true; moved; ) {
    moved = false;
    for (let index = 0; index + 1 < groups.length; index++) {
      const [one, next] = [groups[index], groups[index + 1]];
      if (one === undefined || next === undefined) continue;
      const need = ((one.members.length + next.members.length) / 2) * gap;
      if (next.middle - one.middle >= need) continue;
      const members = [...one.members, ...next.members];
      const half = (members.length * gap) / 2;
      const mean = members.reduce((sum, { wanted }) => sum + wanted, 0) / members.length;
      groups.splice(index, 2, { members, middle: Math.min(Math.max(mean, top + half - gap), bottom - half + gap) });
      moved = true;
      break;
    }
  }
  for (const { members, middle } of groups)
    for (const [index, member] of members.entries()) member.at = middle + (index - (members.length - 1) / 2) * gap;
  return sorted;
}
