/** Options that every command takes. */
export interface GlobalOptions {
  readonly connection?: string;
  readonly prefix?: string;
  readonly region?: string;
  readonly profile?: string;
  readonly local?: boolean;
  readonly localFile?: string;
  readonly json?: boolean;
  readonly color?: boolean;
  readonly quiet?: boolean;
  readonly yes?: boolean;
  /** `--no-names` makes it false. */
  readonly names?: boolean;
  readonly output?: 'wide' | 'csv';
}
