// What to make of a request that failed: ask again, go on without the container, or tell. Errors of the SDK are known by their fields, so
// that this needs no copy of it. Not here: waiting and asking again (ask.ts).

/** Whether a reply that broke off may be asked for again. Before the reply began, the SDK has tried again by itself. */
export function isTransient(error: unknown): boolean {
  const { status, type } = fieldsOf(error);
  if (typeof type === 'string') return TRANSIENT.includes(type);
  // A connection that ended in the middle of a reply has no status of its own.
  return status === undefined;
}

const TRANSIENT: readonly string[] = ['overloaded_error', 'api_error', 'timeout_error', 'rate_limit_error'];

/** Whether the container that the request named is no more. There is no code for it, only words. */
export function isContainerGone(error: unknown): boolean {
  const { status, message } = fieldsOf(error);
  if (status !== 400 && status !== 404 && status !== 410) return false;
  return (
    typeof message === 'string' && /container/i.test(message) && /expired|not found|no longer|does not exist|unavailable/i.test(message)
  );
}

/** What a person is told of it: the API's own words where there are some, not the whole body of its answer. */
export function wordsOf(error: unknown): string {
  const { status, apiMessage, message } = fieldsOf(error);
  if (typeof apiMessage === 'string') return `${typeof status === 'number' ? `${status} ` : ''}${apiMessage}`;
  return typeof message === 'string' ? message : String(error);
}

interface Fields {
  readonly status?: unknown;
  readonly type?: unknown;
  readonly apiMessage?: unknown;
  readonly message?: unknown;
}

function fieldsOf(error: unknown): Fields {
  return typeof error === 'object' && error !== null ? error : {};
}
