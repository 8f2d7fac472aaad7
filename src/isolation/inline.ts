// No isolation: guests run on the host's own thread and block it. For tests, and for measuring what the thread costs.
import { createQuickJs } from '../engine/quickjs.ts';
import { type Channel, linkedChannels } from './channel.ts';
import { serveJail } from './jail.ts';

/** A worker in this very thread. */
export function startInline(wasm: WebAssembly.Module): Channel {
  const [near, far] = linkedChannels();
  createQuickJs(wasm).then(
    (engine) => serveJail(far, engine, (error) => near.onLost(error)),
    (error: unknown) => near.onLost(error),
  );
  return near;
}
