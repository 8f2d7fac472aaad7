// The place of one client: it starts it when it is first wanted, and again after it has ended. A program that saw a server die is not given
// the next one at once, so that a server which dies of a call is not started over and over by a loop. Not here: what a client does.
import type { McpClient } from './client.ts';
import { McpFailure } from './failure.ts';

/** How long a program that saw a server die has to do without it. */
const MOURNING_MS = 5_000;

export class Seat {
  readonly #start: () => Promise<McpClient>;
  #client: McpClient | undefined;
  #starting: Promise<McpClient> | undefined;
  /** Programs that saw the end of the client, and until when they are refused. */
  readonly #witnesses = new Map<string, number>();

  constructor(start: () => Promise<McpClient>) {
    this.#start = start;
  }

  /** For a run that begins: a client that lives, with the tools that its server has now. Rejects with what starting it rejects with. */
  async forRun(): Promise<McpClient> {
    const client = this.#living ?? (await this.#restart());
    try {
      await client.refresh();
      return client;
    } catch {
      // It has ended just now.
      return this.#restart();
    }
  }

  /** For a call of the program `programId`: a client that lives, maybe a new one. */
  forCall(programId: string): McpClient | Promise<McpClient> {
    const client = this.#living;
    if (client !== undefined) return client;
    const until = this.#witnesses.get(programId);
    if (until !== undefined && performance.now() < until) {
      return Promise.reject(new McpFailure('ended', 'has ended; it is started again for the next program'));
    }
    return this.#restart();
  }

  /** A call of this program failed because the client has ended or could not be started. */
  witness(programId: string): void {
    const now = performance.now();
    for (const [id, until] of this.#witnesses) if (until < now) this.#witnesses.delete(id);
    this.#witnesses.set(programId, now + MOURNING_MS);
  }

  /** Ends the client, if there is one; the next to want one gets a new one. */
  async close(): Promise<void> {
    const starting = this.#starting;
    const client = starting === undefined ? this.#client : await starting.catch(() => undefined);
    this.#client = undefined;
    await client?.close();
  }

  get #living(): McpClient | undefined {
    return this.#client?.ended === undefined ? this.#client : undefined;
  }

  #restart(): Promise<McpClient> {
    this.#starting ??= this.#start().then(
      (client) => {
        this.#starting = undefined;
        this.#client = client;
        return client;
      },
      (error: unknown) => {
        this.#starting = undefined;
        throw error;
      },
    );
    return this.#starting;
  }
}
