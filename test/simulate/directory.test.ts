import { expect, it } from 'vitest';
import { decodeMessage } from '../../shared/contract/decode.ts';
import { createDirectoryRecord } from '../../simulate/directory-record.ts';
import { drawRun } from '../../simulate/draw.ts';
import { type DirectoryHappening, messagesOf, scimRequestOf } from '../../simulate/messages.ts';
import type { Reading } from '../../simulate/reading.ts';
import { type DirectoryAction, HOUR_MS, START_MS, type Way } from '../../simulate/simulation-run.ts';
import { byRegisters } from '../support/by-registers.ts';

const PLAIN: Way = { form: 'native', time: 'exact', lateMs: 0, copies: 1 };
const happening = (action: DirectoryAction, way: Partial<Way> = {}): DirectoryHappening => ({
  atMs: 0,
  connection: 'a',
  actor: 'directory',
  action,
  way: { ...PLAIN, ...way },
});
const at = (seconds: number) => START_MS + seconds * 1_000;

/** An action of the directory, with its time in seconds. A list of actions is in the order of arrival. */
type TimedAction = readonly [second: number, action: DirectoryAction, way?: Partial<Way>];

const timed = (...actions: readonly TimedAction[]) => actions;

function recordOf(actions: readonly TimedAction[]) {
  const record = createDirectoryRecord();
  for (const [order, [second, action, way]] of actions.entries()) {
    for (const [part, message] of messagesOf(happening(action, way), at(second)).entries()) {
      const messageId = `m${order}-${part}`;
      record.sent(message, { messageId, sentAtMs: at(second) });
      record.arrived({ messageId, body: message.body, atMs: at(100 + order) });
    }
  }
  return record;
}

const shown = ({ groups }: { readonly groups: ReturnType<typeof byRegisters> | Reading['groups'] }) =>
  Object.fromEntries([...groups].map(([id, { name, members }]) => [id, [name, ...[...members].sort()]]));

const name = (group: string, text = group): DirectoryAction => ({ kind: 'name', group, name: text });
const join = (group: string, ...members: string[]): DirectoryAction => ({ kind: 'join', group, members });
const leave = (group: string, ...members: string[]): DirectoryAction => ({ kind: 'leave', group, members });

it('a refused event counts after a replay with the same body', () => {
  const record = recordOf(timed([1, name('g')], [2, join('g', 'p1'), { time: 'future' }]));
  const [message] = messagesOf(happening(join('g', 'p1'), { time: 'future' }), at(2));
  record.arrived({ messageId: 'other', body: message?.body ?? '', atMs: at(2) + HOUR_MS });
  expect(shown(record.read('a'))).toEqual({ g: ['g', 'p1'] });
});

it('the revision in the answer decides the order of overlapping requests', () => {
  const record = createDirectoryRecord();
  const request = (action: DirectoryAction) =>
    scimRequestOf(happening(action, { form: 'scim_request' }), record.idOf);
  const answered = (action: DirectoryAction, answer: Parameters<typeof record.requested>[1]) => {
    const asked = request(action);
    if (asked !== undefined) record.requested(asked, answer);
  };
  answered({ kind: 'profile', member: 'q1', email: 'q1@a.test' }, { atMs: at(1), made: 'U1' });
  answered(name('s1'), { atMs: at(2), made: 'G1' });
  answered(leave('s1', 'q1'), { atMs: at(4), revision: { modifiedMs: at(3), number: 3n } });
  answered(join('s1', 'q1'), { atMs: at(5), revision: { number: 2n } });
  expect(shown(record.read('a'))).toEqual({ G1: ['s1'] });
});

const SEEDS = Array.from({ length: 12 }, (_, index) => index + 1);

it.each(SEEDS)('the decoder reads each message as the drawn event (simulation run %i)', (seed) => {
  const record = createDirectoryRecord();
  const run = drawRun(seed, { scale: 'small', days: 3 });
  const events = new Map<string, ReturnType<typeof decodeMessage>['events'][number]>();
  for (const [order, one] of run.happenings.entries()) {
    if (one.actor !== 'directory' || one.connection !== 'a') continue;
    for (const [part, message] of messagesOf(one, START_MS + one.atMs).entries()) {
      const messageId = `m${order}-${part}`;
      const sentAtMs = START_MS + one.atMs;
      const atMs = sentAtMs + 1_000;
      record.sent(message, { messageId, sentAtMs });
      record.arrived({ messageId, body: message.body, atMs });
      const decoded = decodeMessage({
        body: message.body,
        messageId,
        sentAtMs,
        receivedAtMs: atMs,
        connection: 'a',
      });
      const isRefused = one.way.time === 'future' || one.action.kind === 'rubbish';
      expect(decoded.rejected.length, message.body).toBe(isRefused ? 1 : 0);
      for (const event of decoded.events) events.set(`${event.stamp} ${JSON.stringify(event.change)}`, event);
    }
  }
  const reading = record.read('a');
  expect(reading.changedAtMs.size).toBeGreaterThan(2);
  expect(shown(reading)).toEqual(shown({ groups: byRegisters([...events.values()]) }));
});
