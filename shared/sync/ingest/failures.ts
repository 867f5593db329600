/** What went wrong in a batch, and which of its messages must therefore come again. */
export class Failures {
  readonly messages = new Set<string>();
  readonly causes: unknown[] = [];

  add(cause: unknown, messageIds: Iterable<string>): void {
    if (this.causes.at(-1) !== cause) this.causes.push(cause);
    for (const id of messageIds) this.messages.add(id);
  }
}
