import type { ScimObject } from './value.ts';

/** The detail error keywords of SCIM (RFC 7644 section 3.12, table 9). */
type ScimErrorType =
  | 'invalidFilter'
  | 'tooMany'
  | 'uniqueness'
  | 'mutability'
  | 'invalidSyntax'
  | 'invalidPath'
  | 'noTarget'
  | 'invalidValue';

/** An error response. The message is sent to the client. It names attributes, but never contains their values. */
export class ScimError extends Error {
  override readonly name = 'ScimError';
  readonly status: number;
  readonly scimType: ScimErrorType | undefined;
  /** Additional headers of the response, such as `allow`. */
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

/** Returns a 400 error with its keyword, for an invalid request. */
export const badRequest = (scimType: ScimErrorType, message: string): ScimError =>
  new ScimError(400, message, { scimType });

/** Media type of every SCIM response with a body, without parameters (RFC 7644 section 3.1). */
export const SCIM_MEDIA_TYPE = 'application/scim+json';

const LIST_RESPONSE = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';
const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error';
export const PATCH_OP = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

/** Returns the body of an error response (RFC 7644 section 3.12). The status is a string. */
export const errorBody = ({ status, scimType, message }: ScimError): ScimObject => ({
  schemas: [ERROR],
  status: String(status),
  ...(scimType === undefined ? {} : { scimType }),
  detail: message,
});

export const listBody = (
  resources: readonly ScimObject[],
  place: { readonly totalResults: number; readonly startIndex: number },
): ScimObject => ({
  schemas: [LIST_RESPONSE],
  itemsPerPage: resources.length,
  ...place,
  Resources: resources,
});
