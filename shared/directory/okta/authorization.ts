import type { DirectoryAnswer } from '../exchange.ts';
import { headersOf } from '../exchange.ts';
import { apiReasonOf } from './refusal.ts';
import type { SignIn } from './sign-in.ts';

export interface Authorization {
  begin(url: string): Promise<AuthorizedRequest>;
}

interface AuthorizedRequest {
  readonly headers: Readonly<Record<string, string>>;
  /** Reads the answer, and remembers a new nonce. Returns whether a retry with new headers can succeed. */
  repeats(answer: DirectoryAnswer): boolean;
}

export const apiTokenAuthorization = (apiToken: string): Authorization => ({
  begin: async () => ({
    headers: { authorization: `SSWS ${apiToken}` },
    repeats: () => false,
  }),
});

/**
 * Returns the authorization with access tokens. A request is repeated with a new token if Okta refuses the token before
 * it expires, and with a new nonce if Okta has renewed the nonce.
 */
export const accessTokenAuthorization = (signIn: SignIn): Authorization => ({
  async begin(url) {
    const token = await signIn.current();
    const headers = token.isBound
      ? { authorization: `DPoP ${token.text}`, dpop: await signIn.proofFor(url, token) }
      : { authorization: `Bearer ${token.text}` };
    return {
      headers,
      repeats(answer) {
        const hasNonce = signIn.keepNonce(answer);
        if (hasNonce && asksForNonce(answer)) return true;
        if (answer.status !== 401) return false;
        signIn.forget(token);
        return true;
      },
    };
  },
});

const NONCE_DEMAND = 'use_dpop_nonce';

/**
 * Returns whether the answer asks for a new nonce. RFC 9449, section 9, defines 401 with a challenge. Okta also answers
 * 400 with the error code in the body.
 */
const asksForNonce = (answer: DirectoryAnswer): boolean =>
  (answer.status === 400 || answer.status === 401) &&
  (apiReasonOf(answer) === NONCE_DEMAND ||
    headersOf(answer, 'www-authenticate').some((challenge) => challenge.includes(NONCE_DEMAND)));
