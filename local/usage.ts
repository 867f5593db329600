/** The command line or a file that it names cannot be used: one line on stderr, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
