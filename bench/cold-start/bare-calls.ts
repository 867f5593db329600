/** How many calls of each kind, and where to. */
export interface BareCalls {
  readonly table: string;
  readonly applyQueueUrl: string;
  readonly secret: string;
  readonly platformUrl: string;
  readonly token: string;
  readonly dynamodb: number;
  readonly sqs: number;
  readonly secrets: number;
  readonly platform: number;
}
