import * as z from 'zod';
import { parseJson } from './json.ts';

/*
 * The form of an answer for `doctor --record`. A record leaves the company, so it contains only words of this file and
 * numbers. The form has no value of a field, and no name that a company can choose, such as a custom attribute.
 */

/** Fields, parts of paths and query parameters of the platform and of the directories. */
const WORDS = new Set(
  `$count $deltatoken $expand $filter $orderby $search $select $top @odata.context @odata.count @odata.deltaLink @odata.nextLink
  @odata.type @removed _embedded _links access_token accountEnabled admin after alerts all api applications archived
  activity allMemberCount company customFieldMask customSchemas customType customer data delta department description
  directMembersCount directory displayName domain email employee employeeId employeeNumber employees endDate error
  error_codes error_description errorCode errorSummary errors eventType events expand expires_in externalIds filter
  firstName fullName groups id include_terminated isMember items kind lastName lastMembershipUpdated lastUpdated limit logs login mail
  maxResults me members members@delta memberKey message microsoft.graph.group microsoft.graph.user mark_app_installed
  name nextPageToken oauth2 offset orderBy organizations outcome outh pageToken parameters platform primary
  primaryEmail profile projection published q query reason reports result results role roleState scope search
  serviceAccounts signedJwt since sortOrder spokeId startTime stats status suspended target time token token_type total type
  until userId workEmail userPrincipalName users usersCount v1 v1.0 v2.0 value version visibility`.split(
    /\s+/,
  ),
);
/** Codes of errors that a vendor documents. Entra ID begins the description of a refused sign-in with the code. */
const CODE = /^(E\d{7}$|AADSTS\d{5,7}(?=:|$))/;
const CODES = new Set(
  `Authorization_RequestDenied InvalidAuthenticationToken Request_ResourceNotFound TooManyRequests PERMISSION_DENIED
  accessNotConfigured authError consent_required dailyLimitExceeded forbidden insufficientPermissions invalid_client
  invalid_dpop_proof invalid_grant invalid_scope invalid_target notAuthorized notFound quotaExceeded rateLimitExceeded unauthorized_client use_dpop_nonce
  userRateLimitExceeded`.split(/\s+/),
);
const HEADERS = new Set(
  `cache-control content-encoding content-length content-type date dpop-nonce etag link location ratelimit-limit
  ratelimit-remaining ratelimit-reset request-id retry-after server transfer-encoding vary www-authenticate
  x-correlation-id x-okta-request-id x-rate-limit-limit x-rate-limit-remaining x-rate-limit-reset
  x-request-id`.split(/\s+/),
);
const MEDIA_TYPE = /^(application\/([a-z]+\+)?json|text\/(html|plain)|gzip|br|chunked)(?=;|$)/;
/** The number of values of one type, and for texts and lists the smallest and the largest length. */
interface Measure {
  readonly count: number;
  readonly min?: number;
  readonly max?: number;
}
interface Answered {
  readonly method: string;
  readonly path: string;
  readonly tookMs: number;
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
  /** The code of the network error; undefined for a complete answer. */
  readonly error: string | undefined;
}

export const RecordedHops = z.object({ hops: z.array(z.unknown()) });

/** Returns the form of an answer, without values. A word that is not in the lists of this file becomes `…`. */
export function recordedHop({ path, headers, text, ...answer }: Answered) {
  const [route = '', query] = path.split('?');
  const found: Found = { fields: {}, codes: new Set() };
  const json = parseJson(text);
  if (json.ok) measure(json.value, 'body', found);
  const shown = Object.entries(headers).filter(([name]) => HEADERS.has(name));
  return {
    ...answer,
    path: route.split('/').map(known).join('/'),
    query: [...new URLSearchParams(query).keys()].map(known),
    headers: Object.fromEntries(shown.map(([name, value]) => [name, [value ?? ''].flat().map(formOf)])),
    characters: text.length,
    codes: [...found.codes],
    fields: found.fields,
  };
}

const known = (word: string): string => (word === '' || WORDS.has(word) ? word : '…');

const formOf = (value: string): string =>
  MEDIA_TYPE.exec(value)?.[0] ?? (/^\d{1,12}$/.test(value) ? value : `text of ${value.length} characters`);

interface Found {
  /** By path and JSON type, such as `body.value[].id` and `string`. */
  readonly fields: Record<string, Record<string, Measure>>;
  readonly codes: Set<string>;
}

function measure(value: unknown, path: string, found: Found): void {
  const types = found.fields[path] ?? {};
  found.fields[path] = types;
  const type = typeOf(value);
  types[type] = measured(types[type], value);
  const code = codeOf(value);
  if (code !== undefined) found.codes.add(code);
  if (Array.isArray(value)) for (const item of value) measure(item, `${path}[]`, found);
  else if (type === 'object')
    for (const [name, inner] of Object.entries(value as object))
      measure(inner, `${path}.${known(name)}`, found);
}

function codeOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  return CODES.has(value) ? value : CODE.exec(value)?.[0];
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function measured(before: Measure | undefined, value: unknown): Measure {
  const count = (before?.count ?? 0) + 1;
  if (typeof value !== 'string' && !Array.isArray(value)) return { count };
  const { min = value.length, max = value.length } = before ?? {};
  return { count, min: Math.min(min, value.length), max: Math.max(max, value.length) };
}
