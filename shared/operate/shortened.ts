import { ANSWER_PREFIX, isJson, withoutCutJson } from '../sync/ports/platform.ts';

/** The maximum length of a shown reason, which may contain a response of the platform. `--json` is not shortened. */
const REASON_SHOWN = 160;

/** Returns the text with at most this many characters. A JSON response of the platform is left out, not cut. */
export function shortened(text: string): string {
  if (text.length <= REASON_SHOWN) return withoutCutJson(text);
  const [ours = '', answer = ''] = text.split(ANSWER_PREFIX, 2);
  const shown = isJson(answer) ? ours : text;
  return shown.length <= REASON_SHOWN ? shown : `${shown.slice(0, REASON_SHOWN - 1)}…`;
}
