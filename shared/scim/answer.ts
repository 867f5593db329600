import { badRequest } from './errors.ts';
import { MAX_ANSWER_BYTES } from './limits.ts';
import type { ScimObject } from './value.ts';

/** Bytes of a document within the answer of a function, which is JSON in a text of JSON: each quote takes one more byte. */
export function answerBytes(document: ScimObject): number {
  const text = JSON.stringify(document);
  return Buffer.byteLength(text) + (text.match(/["\\]/g)?.length ?? 0);
}

/** @throws ScimError tooMany for an answer that Lambda would not deliver */
export function checkAnswer(bytes: number): void {
  if (bytes <= MAX_ANSWER_BYTES) return;
  throw badRequest(
    'tooMany',
    'expected an answer of at most 6 MB; read the group with excludedAttributes=members, and its members by ' +
      'pages of /Users?filter=groups.value eq "<id of the group>"',
  );
}
