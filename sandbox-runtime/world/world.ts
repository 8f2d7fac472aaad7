// Puts the guest's world together: every global that a program finds besides the language and the tools. It does not know the tools
// or how texts reach the host.
import { DateNow } from '../primordials.ts';
import { installBuffer } from './buffer.ts';
import { installStructuredClone } from './clone.ts';
import { installConsole } from './console.ts';
import { createAsk, type WorldContext } from './context.ts';
import { installCrypto } from './crypto.ts';
import { installDate } from './date.ts';
import { removeGlobals } from './define.ts';
import { installDisposal } from './disposal.ts';
import { installDOMException } from './dom-exception.ts';
import { installEncoding } from './encoding.ts';
import { type Aborts, installEvents } from './events.ts';
import type { ProgramSettings, WorldHost } from './host.ts';
import { createInspector, type Inspector } from './inspect.ts';
import { installIntl } from './intl.ts';
import { installLanguage } from './language.ts';
import { installMicrotasks } from './microtask.ts';
import { installPerformance } from './performance.ts';
import { installProxies, type Proxies } from './proxies.ts';
import { installRandom } from './random.ts';
import { installTimers, type Timers } from './timers.ts';
import { installURL } from './url.ts';

/** What the core of the guest's runtime does with the world. */
export interface World {
  /** Starts a program: seeds `Math.random`, starts the clock, takes time zone and locale. After each restore of the image. */
  begin(settings: ProgramSettings): void;
  readonly timers: Timers;
  readonly inspector: Inspector;
  readonly proxies: Proxies;
  readonly aborts: Aborts;
}

/**
 * Globals that engines may have and programs here do not: shared memory and WebAssembly allocate outside the limits, and a
 * finalizer runs when no deadline watches.
 */
const REMOVED = [
  'WebAssembly',
  'SharedArrayBuffer',
  'Atomics',
  'FinalizationRegistry',
  'navigator',
  'gc',
  'print',
  'std',
  'os',
  'bjson',
  'scriptArgs',
] as const;

/** Defines all globals. Once per realm, before its image is taken. */
export function installWorld(host: WorldHost): World {
  const proxies = installProxies();
  const inspector = createInspector(proxies, (error, stack) => host.frames(error, stack));
  const timers = installTimers(host);
  const settings = { timeZone: 'UTC', locale: 'en-US', origin: 0, epoch: 0 };
  const context: WorldContext = { host, settings, inspector, timers, ask: createAsk(host) };

  const seed = installRandom();
  installConsole(context);
  installMicrotasks(host);
  const DOMException = installDOMException();
  installStructuredClone(DOMException, inspector, proxies);
  installEncoding(DOMException, inspector);
  const aborts = installEvents(context, DOMException);
  installPerformance(context);
  installURL(context);
  installCrypto(context, DOMException);
  installBuffer(context);
  installDisposal();
  installLanguage(inspector);
  installIntl(context);
  const chooseZone = installDate(context);
  removeGlobals(REMOVED);

  return {
    begin(program) {
      settings.timeZone = program.timeZone;
      settings.locale = program.locale;
      settings.origin = host.now();
      settings.epoch = DateNow();
      seed(program.seed);
      chooseZone(program.timeZone);
    },
    timers,
    inspector,
    proxies,
    aborts,
  };
}
