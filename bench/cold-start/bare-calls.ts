/** A request to DynamoDB as the connector made it, by the name of its command. */
export interface TableCall {
  readonly command: string;
  readonly input: unknown;
}

/** The calls of a first event, and where to make those that are not DynamoDB's. */
export interface BareCalls {
  readonly table: readonly TableCall[];
  readonly applyQueueUrl: string;
  readonly secret: string;
  readonly platformUrl: string;
  readonly token: string;
  readonly sqs: number;
  readonly secrets: number;
  /** Paths with their queries, asked for with GET. */
  readonly platform: readonly string[];
}
