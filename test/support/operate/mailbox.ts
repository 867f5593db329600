import type { DeadMessage, Mailbox } from '../../../shared/sync/ports/queues.ts';

interface Kept {
  message: Omit<DeadMessage, 'receipt'>;
  hiddenUntilMs: number;
  receipts: number;
}

/** A dead-letter queue in memory: holds that run out, receipts that go stale, messages that others hold. */
export class FakeMailbox implements Mailbox {
  readonly name: 'events' | 'apply';
  readonly kept = new Map<string, Kept>();
  readonly #clock: { ms: number };
  readonly #now = () => this.#clock.ms;
  /** Most messages that were hidden at one time. */
  mostHidden = 0;
  onTake: () => void = () => {};

  constructor(name: 'events' | 'apply', clock: { ms: number }) {
    this.name = name;
    this.#clock = clock;
  }

  add(message: Partial<DeadMessage> & { readonly id: string; readonly body: string }): void {
    const { receipt: _receipt, ...rest } = {
      receipt: '',
      code: 'invalid_event',
      message: 'expected something else',
      sentAtMs: this.#now(),
      failedAtMs: this.#now(),
      ...message,
    };
    this.kept.set(message.id, { message: rest, hiddenUntilMs: 0, receipts: 0 });
  }

  ids(): readonly string[] {
    return [...this.kept.keys()];
  }

  async take(most: number, holdSeconds: number): Promise<readonly DeadMessage[]> {
    this.onTake();
    const ready = [...this.kept.values()]
      .filter(({ hiddenUntilMs }) => hiddenUntilMs <= this.#now())
      .slice(0, most);
    // A long poll that brings nothing takes its time.
    if (ready.length === 0) this.#clock.ms += 1_000;
    const taken = ready.map((entry) => {
      entry.hiddenUntilMs = this.#now() + holdSeconds * 1_000;
      entry.receipts += 1;
      return { ...entry.message, receipt: `${entry.message.id}#${entry.receipts}` };
    });
    const hidden = [...this.kept.values()].filter(({ hiddenUntilMs }) => hiddenUntilMs > this.#now());
    this.mostHidden = Math.max(this.mostHidden, hidden.length);
    return taken;
  }

  /** How often the message was given out that was given out most. */
  mostTaken = (): number => Math.max(...[...this.kept.values()].map(({ receipts }) => receipts));

  async hold(messages: readonly Pick<DeadMessage, 'receipt'>[], holdSeconds: number): Promise<void> {
    for (const { receipt } of messages) {
      const entry = this.#find(receipt);
      // SQS refuses to hide what is visible again.
      if (entry !== undefined && entry.hiddenUntilMs > this.#now()) {
        entry.hiddenUntilMs = this.#now() + holdSeconds * 1_000;
      }
    }
  }

  async giveBack(messages: readonly Pick<DeadMessage, 'receipt'>[]): Promise<void> {
    for (const { receipt } of messages) {
      const entry = this.#find(receipt);
      if (entry !== undefined) entry.hiddenUntilMs = 0;
    }
  }

  async remove(messages: readonly Pick<DeadMessage, 'receipt'>[]): Promise<void> {
    for (const { receipt } of messages) {
      const entry = this.#find(receipt);
      if (entry !== undefined) this.kept.delete(entry.message.id);
    }
  }

  async counts() {
    const inFlight = [...this.kept.values()].filter(
      ({ hiddenUntilMs }) => hiddenUntilMs > this.#now(),
    ).length;
    return { visible: this.kept.size - inFlight, inFlight };
  }

  #find(receipt: string): Kept | undefined {
    const [id = '', count] = receipt.split('#');
    const entry = this.kept.get(id);
    return entry !== undefined && String(entry.receipts) === count ? entry : undefined;
  }
}
