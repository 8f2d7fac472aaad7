// The process of one subject: opens it, and does a task whenever it is told to. Started by bench.ts with the question's and the subject's name, and
// the question's own arguments.
import process from 'node:process';
import type { Question } from './question.ts';

/** From the harness. */
export type Order = { readonly task: string; readonly size: number } | 'close';
/** To the harness: after opening the names of the tasks, after an order one figure, or what went wrong. */
export type Report = { readonly tasks: readonly string[] } | { readonly figure: number } | { readonly error: string };

const [name, subject, ...args] = process.argv.slice(2);
const say = (report: Report): void => void process.send?.(report);

// Something that waits for nothing hangs: the harness has to see that, not an end.
const awake = setInterval(() => undefined, 60_000);
try {
  // The file of that name is a question; main.ts has listed it.
  const { question } = (await import(new URL(`../questions/${name}.js`, import.meta.url).href)) as { question: Question };
  const open = question.subjects[subject ?? ''];
  if (open === undefined) throw new Error(`The question ${name} has no subject ${subject}.`);
  const { tasks, close } = await open(args);
  say({ tasks: Object.keys(tasks) });
  process.on('message', async (order: Order) => {
    if (order === 'close') {
      await Promise.race([close?.(), new Promise((resolve) => setTimeout(resolve, 2_000))]);
      // Several subjects cannot be closed, and would keep the process alive, or crash it when it goes in good order.
      return void process.kill(process.pid, 'SIGKILL');
    }
    try {
      say({ figure: await (tasks[order.task] as (size: number) => Promise<number>)(order.size) });
    } catch (error) {
      say({ error: sentence(error) });
    }
  });
} catch (error) {
  say({ error: sentence(error) });
  clearInterval(awake);
}

function sentence(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 500);
}
