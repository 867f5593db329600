import type { ScimError } from './errors.ts';
import type { ScimObject } from './value.ts';

/** Media type of every answer, without parameters (RFC 7644 section 3.1). */
export const SCIM_MEDIA_TYPE = 'application/scim+json';

export const LIST_RESPONSE = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';
const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error';
export const BULK_RESPONSE = 'urn:ietf:params:scim:api:messages:2.0:BulkResponse';

/** RFC 7644 section 3.12; the status is text there. */
export const errorBody = ({ status, scimType, message }: ScimError): ScimObject => ({
  schemas: [ERROR],
  status: String(status),
  ...(scimType === undefined ? {} : { scimType }),
  detail: message,
});

export const listBody = (
  resources: readonly ScimObject[],
  {
    totalResults,
    ...place
  }: {
    readonly totalResults: number;
    readonly startIndex?: number;
    readonly nextCursor?: string;
  },
): ScimObject => ({
  schemas: [LIST_RESPONSE],
  totalResults,
  itemsPerPage: resources.length,
  ...place,
  Resources: resources,
});
