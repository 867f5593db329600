/** Detail error keywords (RFC 7644 section 3.12, table 9). */
export type ScimErrorType =
  | 'invalidFilter'
  | 'tooMany'
  | 'uniqueness'
  | 'mutability'
  | 'invalidSyntax'
  | 'invalidPath'
  | 'noTarget'
  | 'invalidValue'
  | 'invalidVers'
  /** RFC 9865 section 2.1. */
  | 'invalidCursor'
  | 'expiredCursor';

/** A request that is answered with an error. The message goes to the client: it names attributes, never their values. */
export class ScimError extends Error {
  override readonly name = 'ScimError';
  readonly status: number;
  readonly scimType: ScimErrorType | undefined;
  /** Headers that the answer must carry, such as `allow`. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    message: string,
    { scimType, headers = {} }: Partial<Pick<ScimError, 'scimType' | 'headers'>> = {},
  ) {
    super(message);
    this.status = status;
    this.scimType = scimType;
    this.headers = headers;
  }
}

/** A 400 with its keyword: nearly everything that a client gets wrong. */
export const badRequest = (scimType: ScimErrorType, message: string): ScimError =>
  new ScimError(400, message, { scimType });
