// A mistake in how the command was called, as opposed to a program that failed. Ends with exit status 2.

/** `message` is a whole sentence for the person at the keyboard. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
