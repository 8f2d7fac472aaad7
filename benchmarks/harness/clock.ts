// Clocks for what waiting must not count in: they tell milliseconds of computing, and stand still while others have the processor.
import { readFileSync } from 'node:fs';
import process from 'node:process';

/**
 * Milliseconds that the main thread has computed: what waits costs nothing, and neither do other processes and threads. Where Node and the system
 * do not tell, the time that its event loop was not idle.
 */
export function computingClock(): () => number {
  if ('threadCpuUsage' in process && typeof process.threadCpuUsage === 'function') {
    const usage = process.threadCpuUsage as () => { user: number; system: number };
    return () => (usage().user + usage().system) / 1000;
  }
  if (process.platform !== 'linux') return () => performance.eventLoopUtilization().active;
  return () => {
    // Makes the kernel bring the number up to date that it shows in the file.
    process.cpuUsage();
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1').split(' ', 1)[0]) / 1e6;
  };
}

/** Milliseconds that all threads of the process have computed, those of the compiler and of garbage collection included. */
export function processorClock(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
