import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decodeMessage } from '../../shared/contract/decode.ts';
import { byRegisters } from '../support/by-registers.ts';
import { PATIENCE_MS, runs } from '../support/engine/runs.ts';
import { parseLines, type RawEvent, readDirectory } from '../support/reading.ts';

/*
 * These tests read one stream of events in two ways that share no code. The reference model replays the events in
 * order, like the end-to-end tests. The engine decodes the events in any order and folds registers.
 */

const NOW_MS = Date.UTC(2026, 10, 20);

function decoded(events: readonly RawEvent[]) {
  const body = JSON.stringify(events);
  const message = decodeMessage({ body, messageId: 'm', sentAtMs: NOW_MS, receivedAtMs: NOW_MS });
  expect(message.rejected).toEqual([]);
  return message.events;
}

const id = fc.constantFrom('a', 'b', 'c');
const members = fc.uniqueArray(id, { maxLength: 3 }).map((ids) => ids.map((one) => ({ id: one })));
const group = fc.constantFrom('g1', 'g2').map((one) => ({ id: one }));
const named = fc.tuple(group, fc.constantFrom('N1', 'N2')).map(([{ id: one }, name]) => ({ id: one, name }));

const typeAndData: fc.Arbitrary<Pick<RawEvent, 'type' | 'data'>> = fc.oneof(
  named.map((one) => ({ type: 'directory.group.upserted', data: { group: one } })),
  group.map((one) => ({ type: 'directory.group.deleted', data: { group: one } })),
  fc
    .tuple(fc.oneof(group, named), members)
    .map(([one, some]) => ({ type: 'directory.group.snapshot', data: { group: one, members: some } })),
  fc.tuple(group, members, fc.constantFrom('added', 'removed')).map(([one, some, what]) => ({
    type: `directory.group.member.${what}`,
    data: { group: one, members: some },
  })),
  id.map((one) => ({ type: 'directory.user.deleted', data: { user: { id: one } } })),
);

/** Generates events with different ids. Many of the events have equal times. */
const stream = fc
  .array(fc.tuple(typeAndData, fc.integer({ min: 0, max: 5 }), fc.option(fc.nat(11), { nil: undefined })), {
    maxLength: 25,
  })
  .map((drafts) =>
    drafts.map(
      ([draft, second, sequence], index): RawEvent => ({
        specversion: '1.0',
        id: `e${index}`,
        source: 's',
        time: new Date(NOW_MS + second * 1_000).toISOString(),
        ...(sequence !== undefined && { sequence: String(sequence) }),
        ...draft,
      }),
    ),
  );

/** Generates the parts of one snapshot of g1. Each part is a second later than the previous part. */
const parts = fc.array(members, { minLength: 2, maxLength: 3 }).map((lists) =>
  lists.map(
    (some, index): RawEvent => ({
      specversion: '1.0',
      id: `p${index}`,
      source: 's',
      type: 'directory.group.snapshot',
      time: new Date(NOW_MS + 1_500 + index * 1_000).toISOString(),
      data: { group: { id: 'g1' }, members: some, part: { snapshotId: 'p', index, count: lists.length } },
    }),
  ),
);

it('the reference model and the registers agree on the example company', () => {
  const url = new URL('../../examples/company.events.jsonl', import.meta.url);
  const events = parseLines(readFileSync(url, 'utf8'));
  expect(byRegisters(decoded(events))).toEqual(readDirectory(events).groups);
});

it(
  'both readings agree on any shuffled stream with repeated events and an incomplete snapshot',
  () => {
    const arrivals = fc.tuple(stream, parts).chain(([events, some]) => {
      const all = [...events, ...some];
      return fc.tuple(
        fc.constant(all),
        fc.shuffledSubarray(all, { minLength: all.length }),
        fc.subarray(all),
      );
    });
    fc.assert(
      fc.property(arrivals, ([all, shuffled, again]) => {
        expect(byRegisters(decoded([...shuffled, ...again]))).toEqual(readDirectory(all).groups);
      }),
      runs(),
    );
  },
  PATIENCE_MS,
);
