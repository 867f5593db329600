/** A committed file that is made from something else in the project. The same project gives the same bytes. */
export interface GeneratedFile {
  /** From the root of the project. */
  readonly path: string;
  readonly content: () => string | Promise<string>;
}
