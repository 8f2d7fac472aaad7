// How long one entry into a guest may take. Not here: what is done when it takes longer, which each engine knows.
import type { LimitName } from '../protocol/limits.ts';
import type { Budget } from './engine.ts';

/** The milliseconds that an entry has, and which limit says so. */
export function tightest({ cpuMs, sliceMs, deadline }: Budget): { readonly ms: number; readonly limit: LimitName } {
  const leftMs = deadline - Date.now();
  if (leftMs <= cpuMs && leftMs <= sliceMs) return { ms: leftMs, limit: 'wallMs' };
  return sliceMs < cpuMs ? { ms: sliceMs, limit: 'sliceMs' } : { ms: cpuMs, limit: 'cpuMs' };
}
