/** A request of a first event, to be made once more. */
export type BareCall =
  /** As the connector made it, by the name of its command. */
  | { readonly to: 'table'; readonly command: string; readonly input: unknown }
  | { readonly to: 'queue' | 'secret' }
  /** Path with its query, asked for with GET. */
  | { readonly to: 'platform'; readonly path: string };

/** The calls of a first event in their order, and where to make those that are not DynamoDB's. */
export interface BareCalls {
  readonly calls: readonly BareCall[];
  readonly applyQueueUrl: string;
  readonly secret: string;
  readonly platformUrl: string;
  readonly token: string;
}

export type Maker<Call extends BareCall = BareCall> = (call: Call) => Promise<unknown>;

/** One after the other, as they were recorded. */
export async function makeInOrder(calls: readonly BareCall[], maker: Maker): Promise<void> {
  for (const call of calls) await maker(call);
}
