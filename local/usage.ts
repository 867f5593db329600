/** The command line or a file cannot be used. The command prints the message as one line and exits with code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
