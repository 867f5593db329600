import * as z from 'zod';
import { ErrorCode } from '../error-code.ts';

/* The fields of Okta's Groups, Users and System Log APIs that the reader uses. Links to next pages are in headers. */

const filled = z.string().min(1);
const Time = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));

/** A group. `expand=stats` adds `_embedded`. */
export const Group = z.object({
  id: filled,
  lastUpdated: Time,
  lastMembershipUpdated: Time,
  profile: z.object({ name: filled }),
  _embedded: z.object({ stats: z.object({ usersCount: z.int().min(0).nullish() }).nullish() }).nullish(),
});

export const User = z.object({
  id: filled,
  /** `ACTIVE`, `SUSPENDED`, `DEPROVISIONED` or another status. */
  status: filled,
  lastUpdated: Time.nullish(),
  profile: z.looseObject({ login: z.string().nullish(), email: z.string().nullish() }),
});

export const LogEvent = z.object({
  published: Time,
  eventType: z.string(),
  outcome: z.object({ result: z.string().nullish() }).nullish(),
  target: z.array(z.object({ id: z.string().nullish(), type: z.string().nullish() })).nullish(),
});
export type LogEvent = Readonly<z.infer<typeof LogEvent>>;

/** The error of an API ("Okta error codes and descriptions"). */
export const ApiError = z.object({ errorCode: ErrorCode });

/** The answer with an access token (RFC 6749, section 5.1, and RFC 9449, section 5). */
export const Token = z.object({
  access_token: filled,
  token_type: filled,
  expires_in: z.number().positive(),
  scope: z.string().optional(),
});
/** The answer that refuses a request for a token (RFC 6749, section 5.2). */
export const TokenRefusal = z.object({ error: ErrorCode });
/** A refused proof of a key (RFC 9449, sections 7.1 and 8). Some answers of Okta have this error only in the body. */
export const ProofRefusal = z.object({ error: z.enum(['invalid_dpop_proof', 'use_dpop_nonce']) });

/** A private key in the form that Okta shows once, when it creates the key (RFC 7517). */
export const PrivateJwk = z.looseObject({
  kty: z.enum(['RSA', 'EC']),
  kid: filled,
  d: filled,
  alg: z.string().optional(),
  crv: z.string().optional(),
});
export type PrivateJwk = Readonly<z.infer<typeof PrivateJwk>>;

export const ApiToken = z.object({ apiToken: filled });
