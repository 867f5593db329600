import { createHash } from 'node:crypto';
import { parseJwt } from '../engine/jwt.ts';
import type { Simulation } from '../engine/simulation.ts';
import { publicKeyOf, thumbprintOf } from './keys.ts';

/** Maximum difference between the clocks of client and server. */
const SKEW_SECONDS = 300;
/** Okta "renews the value every 24 hours. The old value continues to work for three days" (DPoP guide). */
const RENEWED_AFTER_MS = 86_400_000;
const VALID_FOR_MS = 3 * 86_400_000;

/** An invalid proof. The message becomes the error description of the answer. */
export class ProofError extends Error {
  override readonly name = 'ProofError';
  readonly error: 'invalid_dpop_proof' | 'use_dpop_nonce';

  constructor(error: ProofError['error'], message: string) {
    super(message);
    this.error = error;
  }
}

interface ProofExpected {
  readonly method: string;
  /** The addresses that the proof can name, without query. */
  readonly urls: readonly string[];
  /** The access token of an API call; undefined for a token request. */
  readonly accessToken?: string;
  readonly needsNonce: boolean;
}

/** The server's side of DPoP (RFC 9449): nonces, and the identifiers of used proofs. */
export interface Dpop {
  /** Returns the thumbprint of the key that signed the proof. @throws {ProofError} */
  thumbprint(proof: string | undefined, expected: ProofExpected): string;
  /** Returns the nonce that new proofs must have. */
  nonce(): string;
  expireNonces(): void;
}

export function createDpop(simulation: Simulation): Dpop {
  const used = new Set<string>();
  let nonces: readonly { readonly text: string; readonly issuedAtMs: number }[] = [];
  let issued = 0;
  const nonce = () => {
    const latest = nonces.at(-1);
    const nowMs = simulation.clock();
    if (latest !== undefined && nowMs - latest.issuedAtMs < RENEWED_AFTER_MS) return latest.text;
    issued += 1;
    const text = simulation.random(`dpop-nonce/${issued}`).hex(32);
    const isValid = ({ issuedAtMs }: { issuedAtMs: number }) => nowMs - issuedAtMs < VALID_FOR_MS;
    nonces = [...nonces.filter(isValid), { text, issuedAtMs: nowMs }];
    return text;
  };
  const isKnown = (text: string | undefined) =>
    nonces.some((one) => one.text === text && simulation.clock() - one.issuedAtMs < VALID_FOR_MS);
  return {
    nonce,
    expireNonces() {
      nonces = [];
    },
    thumbprint(text, expected) {
      if (text === undefined) throw invalid('The DPoP proof JWT header is missing.');
      const { claims, jkt } = verified(text);
      refuseWrongClaims(claims, expected, simulation.clock() / 1_000);
      if (expected.needsNonce && !isKnown(claims.nonce)) {
        throw new ProofError('use_dpop_nonce', 'Authorization server requires nonce in DPoP proof.');
      }
      const { jti } = claims;
      if (jti === undefined) throw invalid("'jti' claim in the DPoP proof JWT is missing.");
      if (used.has(jti)) throw invalid('The DPoP proof JWT has already been used.');
      used.add(jti);
      return jkt;
    },
  };
}

const invalid = (message: string) => new ProofError('invalid_dpop_proof', message);

function verified(text: string) {
  const proof = parseJwt(text);
  const jwk = proof?.header.jwk;
  if (proof === undefined) throw invalid('The DPoP proof JWT is malformed.');
  if (proof.header.typ !== 'dpop+jwt') throw invalid("'typ' header of the DPoP proof JWT is invalid.");
  if (jwk === undefined || jwk.d !== undefined)
    throw invalid("'jwk' header of the DPoP proof JWT is invalid.");
  const key = publicKeyOf(jwk);
  if (key === undefined || !proof.isSignedBy(key)) throw invalid('The DPoP proof JWT signature is invalid.');
  return { claims: proof.claims, jkt: thumbprintOf(jwk) };
}

type ProofClaims = ReturnType<typeof verified>['claims'];

function refuseWrongClaims(claims: ProofClaims, expected: ProofExpected, nowSeconds: number): void {
  const wrong = (claim: string) => invalid(`'${claim}' claim in the DPoP proof JWT is invalid.`);
  if (claims.htm !== expected.method) throw wrong('htm');
  if (claims.htu === undefined || !expected.urls.includes(claims.htu)) throw wrong('htu');
  if (claims.iat === undefined || Math.abs(claims.iat - nowSeconds) > SKEW_SECONDS) throw wrong('iat');
  if (expected.accessToken === undefined) return;
  const hash = createHash('sha256').update(expected.accessToken).digest('base64url');
  if (claims.ath !== hash) throw wrong('ath');
}
