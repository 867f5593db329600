import { expect, it } from 'vitest';
import { decodeMessage } from '../../shared/contract/decode.ts';
import { connectionName } from '../../shared/domain/ids.ts';
import { sendEvents } from '../../shared/operate/events.ts';
import type { OutgoingEvent } from '../../shared/sync/ports/queues.ts';
import { createWorld } from '../support/operate/world.ts';

const NOW_MS = Date.UTC(2026, 10, 20);
const rename = (name: string) => ({ op: 'replace', path: 'displayName', value: name });
const patch = (...names: string[]) =>
  JSON.stringify({
    schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
    groupId: 'g',
    Operations: names.map(rename),
  });

/** Returns the stamps that ingest reads. All events are sent in one millisecond. Later messages have smaller ids. */
async function stampsOf(texts: readonly string[]) {
  const sent: OutgoingEvent[] = [];
  const events = {
    send: async (messages: readonly OutgoingEvent[]) => {
      sent.push(...messages);
      return messages.map(() => ({ messageId: 'm' }));
    },
  };
  const lines = (async function* () {
    for (const [index, text] of texts.entries()) yield { line: index + 1, text };
  })();
  const { ports } = createWorld();
  const own = { ...ports, events, clock: () => NOW_MS, newId: () => 'run' };
  await sendEvents(lines, { keptBy: connectionName('default') }, own);
  return sent.flatMap(({ body, stamp }, index) => {
    const messageId = `m${String(texts.length - index).padStart(6, '0')}`;
    const message = { body, messageId, sentAtMs: NOW_MS, receivedAtMs: NOW_MS, stamp };
    return decodeMessage(message).events.map((event) => event.stamp);
  });
}

it.each([
  ['three lines', ['a', 'b', 'c'].map((name) => patch(name))],
  ['lines of several operations each', [patch('a', 'b'), patch('c', 'd'), `[${patch('e')},${patch('f')}]`]],
  [
    'more operations in total than one stamp can number',
    Array.from({ length: 12 }, () => patch(...Array.from({ length: 9_000 }, () => 'a'))),
  ],
])('events without a time keep the order of their lines: %s', async (_, texts) => {
  const stamps = await stampsOf(texts);
  expect(stamps.findIndex((stamp, index) => index > 0 && stamp <= (stamps[index - 1] ?? ''))).toBe(-1);
});
