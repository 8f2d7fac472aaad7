// How busy the machine is, before and while something is measured. On a busy machine figures are those of the others: the report says so.
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, cpus, platform, release, totalmem } from 'node:os';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { type Load, type Machine, spread } from './result.ts';

/** Others may use this share of the processor, and a loop must get this share of a core, for the machine to count as quiet. */
const MOST_OTHERS = 0.15;
const LEAST_CORE = 0.9;

export interface LoadWatch {
  /** A look at how much of a core a loop gets; taken between rounds. */
  look(): void;
  end(): Load;
}

export async function watchLoad(): Promise<LoadWatch> {
  const idle = usedAndAll();
  await delay(1_000);
  const began = usedAndAll();
  const before = shareOf(idle, began);
  const ownAtStart = ownSeconds();
  const since = performance.now();
  const cores = [shareOfCore()];
  return {
    look() {
      if (cores.length < 400) cores.push(shareOfCore());
    },
    end() {
      const ownAtEnd = ownSeconds();
      const all = ((performance.now() - since) / 1000) * availableParallelism();
      const own = ownAtStart === undefined || ownAtEnd === undefined ? undefined : (ownAtEnd - ownAtStart) / all;
      const others = own === undefined ? null : Math.max(0, shareOf(began, usedAndAll()) - own);
      const core = spread(cores).median;
      return { before, others, core, isBusy: before > MOST_OTHERS || (others ?? 0) > MOST_OTHERS || core < LEAST_CORE };
    },
  };
}

export function machine(): Machine {
  return {
    node: process.version,
    platform: `${platform()} ${process.arch}, kernel ${release()}`,
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGB: Math.round(totalmem() / 2 ** 30),
  };
}

/** A loop of 10 ms on the wall, and how long of it this thread computed. */
function shareOfCore(): number {
  const cpu = process.cpuUsage();
  const began = performance.now();
  while (performance.now() - began < 10);
  const { user, system } = process.cpuUsage(cpu);
  return Math.min(1, (user + system) / 1000 / (performance.now() - began));
}

function usedAndAll(): { used: number; all: number } {
  let [used, all] = [0, 0];
  for (const { times } of cpus()) {
    const { idle, ...busy } = times;
    const sum = Object.values(busy).reduce((a, b) => a + b, 0);
    used += sum;
    all += sum + idle;
  }
  return { used, all };
}

function shareOf(from: { used: number; all: number }, to: { used: number; all: number }): number {
  return to.all === from.all ? 0 : (to.used - from.used) / (to.all - from.all);
}

/** Computed by this process and all below it, the ended ones included as far as they were waited for; only Linux tells. */
function ownSeconds(): number | undefined {
  if (process.platform !== 'linux') return undefined;
  const processes = new Map<number, { parent: number; ticks: number }>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      // After the command's name, which may hold anything but ends with the last parenthesis: state, parent, …, user, system, and both of children.
      const fields = readFileSync(`/proc/${name}/stat`, 'latin1')
        .replace(/^.*\) /s, '')
        .split(' ');
      const ticks = [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0);
      processes.set(Number(name), { parent: Number(fields[1]), ticks });
    } catch {
      // It has ended.
    }
  }
  let sum = 0;
  for (const [id, { ticks }] of processes) {
    let at: number | undefined = id;
    while (at !== undefined && at !== process.pid) at = processes.get(at)?.parent;
    if (at === process.pid) sum += ticks;
  }
  return sum / 100;
}
