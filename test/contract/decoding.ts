import { type DecodedMessage, decodeMessage, type MessageToDecode } from '../../shared/contract/decode.ts';

export const SENT_MS = Date.UTC(2026, 10, 20, 12);
export const SENT_AT = '2026-11-20T12:00:00.000000000Z';

/** Decodes the body of a message with the id `m1`. A body that is not text is first converted to JSON. */
export function decode(body: unknown, message: Partial<MessageToDecode> = {}): DecodedMessage {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return decodeMessage({ body: text, messageId: 'm1', sentAtMs: SENT_MS, receivedAtMs: SENT_MS, ...message });
}

/** Returns the changes of a body. @throws if an event was rejected */
export function changesOf(body: unknown, message: Partial<MessageToDecode> = {}) {
  const { events, rejected } = decode(body, message);
  if (rejected.length > 0) throw new Error(rejected.map((one) => `${one.code}: ${one.message}`).join('\n'));
  return events.map(({ change }) => change);
}

/** Returns `code: message` for each rejected event. */
export const problemsOf = (body: unknown, message: Partial<MessageToDecode> = {}) =>
  decode(body, message).rejected.map((one) => `${one.code}: ${one.message}`);

export const native = (type: string, data: unknown, attributes: object = {}) => ({
  specversion: '1.0',
  id: 'e1',
  source: 'okta/acme',
  type: `directory.${type}`,
  time: '2026-11-20T10:00:00.123Z',
  data,
  ...attributes,
});

export const member = (id: string, attributes: Readonly<Record<string, string>> = {}) => ({
  id,
  attributes: new Map(Object.entries(attributes)),
});
