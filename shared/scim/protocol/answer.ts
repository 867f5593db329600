import { badRequest } from './errors.ts';
import { MAX_ANSWER_BYTES } from './limits.ts';
import type { ScimObject } from './value.ts';

/** Returns the size in bytes of a document in a Lambda response, which contains the document as a JSON string. */
export function answerBytes(document: ScimObject): number {
  const quoted = JSON.stringify(JSON.stringify(document));
  return Buffer.byteLength(quoted) - '""'.length;
}

/** @throws ScimError tooMany if Lambda would not deliver a response of this size */
export function checkAnswer(bytes: number): void {
  if (bytes <= MAX_ANSWER_BYTES) return;
  throw badRequest(
    'tooMany',
    'expected an answer of at most 6 MB; read the group with excludedAttributes=members, and the members in ' +
      'pages with /Users?filter=groups.value eq "<id of the group>"',
  );
}
