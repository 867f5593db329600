/** A recorded request that a function made for its first event. The benchmark repeats it. */
export type BareCall =
  /** A DynamoDB command by its class name, with its input. */
  | { readonly to: 'table'; readonly command: string; readonly input: unknown }
  | { readonly to: 'queue' | 'secret' }
  /** A GET request to this path, which includes the query. */
  | { readonly to: 'platform'; readonly path: string };

/** The calls for a first event in their order, and the addresses of the queue, the secret and the platform. */
export interface BareCalls {
  readonly calls: readonly BareCall[];
  readonly applyQueueUrl: string;
  readonly secret: string;
  readonly platformUrl: string;
  readonly token: string;
}

export type Maker<Call extends BareCall = BareCall> = (call: Call) => Promise<unknown>;

export async function makeInOrder(calls: readonly BareCall[], maker: Maker): Promise<void> {
  for (const call of calls) await maker(call);
}
