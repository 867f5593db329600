import { expect, it } from 'vitest';
import { DEFAULT_CONNECTION as connection } from '../../shared/contract/names.ts';
import {
  discardDeadLetters,
  findDeadLetters,
  problemsOf,
  sendAmended,
} from '../../shared/operate/dead-letters/amend.ts';
import type { DeadLetter } from '../../shared/operate/dead-letters/dead-letter.ts';
import { describeDeadLetter, isSuperseded } from '../../shared/operate/dead-letters/describe.ts';
import { HOLD_SECONDS } from '../../shared/operate/dead-letters/read-mailbox.ts';
import { replayDeadLetters } from '../../shared/operate/dead-letters/replay.ts';
import { surveyDeadLetters } from '../../shared/operate/dead-letters/survey.ts';
import { journalOf } from '../../shared/operate/journal.ts';
import { ingest } from '../../shared/sync/ingest/ingest.ts';
import type { RejectedMessage } from '../../shared/sync/ports/queues.ts';
import type { ShortEvent } from '../support/operate/world.ts';
import { added, deleted, group, NOW_MS, OF_ACME, removed, savedWorld } from '../support/operate/world.ts';

const bodyOf = ({ type, data, connection }: ShortEvent, atMs = NOW_MS) =>
  JSON.stringify({
    specversion: '1.0',
    id: `late-${type}`,
    source: 'test',
    type: `directory.${type}`,
    time: new Date(atMs).toISOString(),
    connection,
    data,
  });

async function worldWith(deadLetters: number, codes = ['invalid_event', 'too_old', 'unknown_connection']) {
  const world = await savedWorld();
  for (let at = 0; at < deadLetters; at += 1) {
    const code = codes[at % codes.length] as string;
    world.mailboxes.events.add({ id: `d${at}`, body: bodyOf(added(`g${at % 5}`, 'ann')), code });
  }
  return world;
}

it('surveyDeadLetters counts messages by cause, lists them up to the limit, and returns all of them to the queue', async () => {
  const world = await worldWith(1_998);
  for (const id of ['late', 'latest']) {
    world.clock.ms += 1_000;
    world.mailboxes.events.add({ id, body: bodyOf(added('g', 'ann')), code: 'too_old' });
  }
  const survey = await surveyDeadLetters(world.ports, { queues: ['events'], limit: 100 });
  expect(survey).toMatchObject({ queue: 'events', total: 2_000, selected: 2_000, complete: true });
  const same = { superseded: 0, refused: 0, oldestMs: 2_000 };
  expect(survey.causes).toEqual([
    { ...same, code: 'too_old', count: 668, newestMs: 0 },
    { ...same, code: 'invalid_event', count: 666, newestMs: 2_000 },
    { ...same, code: 'unknown_connection', count: 666, newestMs: 2_000 },
  ]);
  expect(survey.messages).toHaveLength(100);
  const both = await surveyDeadLetters(world.ports, { queues: ['events', 'apply'], limit: 0 });
  expect(both).toMatchObject({ queue: 'all', total: 2_000 });
  expect(await world.mailboxes.events.counts()).toEqual({ visible: 2_000, inFlight: 0 });
});

it('surveyDeadLetters reports messages that another consumer has received, and lists them after their return', async () => {
  const world = await worldWith(30);
  await world.mailboxes.events.take(10, 10);
  const told: number[][] = [];
  const onElsewhere = (...what: number[]) => told.push(what);
  const survey = await surveyDeadLetters(world.ports, { queues: ['events'], limit: 100, onElsewhere });
  expect(survey).toMatchObject({ total: 30, selected: 30, inFlightElsewhere: 0 });
  expect(told[0]).toEqual([10, 24]);
});

it('surveyDeadLetters with patienceSeconds 0 counts messages of another consumer without a wait', async () => {
  const world = await worldWith(30);
  const theirs = await world.mailboxes.events.take(10, 300);
  const nowMs = world.clock.ms;
  const options = { queues: ['events'] as const, limit: 100, patienceSeconds: 0 };
  const survey = await surveyDeadLetters(world.ports, options);
  expect(survey).toMatchObject({ total: 30, selected: 20, inFlightElsewhere: 10 });
  expect(world.clock.ms - nowMs).toBeLessThan(5_000);
  expect(await world.mailboxes.events.counts()).toEqual({ visible: 20, inFlight: 10 });
  await world.mailboxes.events.remove(theirs);
  expect(world.mailboxes.events.ids()).toHaveLength(20);
});

it('surveyDeadLetters ends before its messages return to the queue, and reports that there may be more messages', async () => {
  const world = await worldWith(500);
  world.mailboxes.events.onTake = () => {
    world.clock.ms += 2_000;
  };
  const survey = await surveyDeadLetters(world.ports, { queues: ['events'], limit: 10 });
  expect(survey.complete).toBe(false);
  expect(survey.selected).toBeLessThan(500);
  expect((await world.mailboxes.events.counts()).visible).toBe(500);
});

const leaver = { type: 'user.deleted', data: { user: { id: 'm-ann' } } };
/** Returns an event that adds a member without attributes. */
const bare = (of: string, member: string): ShortEvent => ({
  type: 'group.member.added',
  data: { group: { id: of }, members: [{ id: `m-${member}` }] },
});
const listed = { ...bare('g', 'ann'), type: 'group.snapshot' };
const judged = async (history: readonly ShortEvent[], late: ShortEvent) => {
  const world = await savedWorld();
  world.clock.ms = NOW_MS + 60_000;
  if (history.length > 0) await world.publish(...history);
  world.mailboxes.events.add({ id: 'd', body: bodyOf(late) });
  const [deadLetter] = (await findDeadLetters(['d'], ['events'], world.ports)) as [DeadLetter];
  return isSuperseded(deadLetter, world.ports);
};

it.each<[string, ShortEvent[], ShortEvent, boolean]>([
  ['a member who was removed later', [group('g'), removed('g', 'ann')], added('g', 'ann'), true],
  ['a member who has no newer event', [group('g'), removed('g', 'bob')], added('g', 'ann'), false],
  ['two members, one without a newer event', [removed('g', 'ann')], added('g', 'ann', 'bob'), false],
  ['a member without attributes, in a group deleted later', [deleted('g')], bare('g', 'ann'), true],
  ['the only address of a member of a group deleted later', [deleted('g')], added('g', 'ann'), false],
  [
    'a member of a group that was deleted later, if a newer event has the address of the member',
    [added('h', 'ann'), deleted('g')],
    added('g', 'ann'),
    true,
  ],
  ['a group name that was changed later', [group('g', 'New')], group('g', 'Old'), true],
  ['the name of an unknown group', [], group('g', 'Old'), false],
  ['a group name, if the newer snapshot has no name', [listed], group('g', 'Old'), false],
  ['a snapshot of a group with a newer snapshot', [listed], listed, true],
  ['a snapshot of a group with a newer name', [group('g')], listed, false],
  ['deleting a group with a newer snapshot and name', [listed, group('g')], deleted('g'), true],
  ['deleting a group with a newer snapshot without a name', [listed], deleted('g'), false],
  ['deleting a group that was deleted again', [deleted('g')], deleted('g'), true],
  ['deleting a group that still exists', [group('g')], deleted('g'), false],
  ['a user who was deleted later', [leaver], leaver, true],
])('isSuperseded returns $3 for an event about %s', async (_, history, late, expected) => {
  expect(await judged(history, late)).toBe(expected);
});

it.each([
  ['whose own event is the latest stored event', bodyOf(added('g', 'ann')), []],
  ['that cannot be read', '{', [expect.stringMatching(/^invalid_json/)]],
])('isSuperseded returns false for a message %s', async (_, body, problems) => {
  const world = await savedWorld();
  await ingest([{ messageId: 'd', body, sentAtMs: NOW_MS }], world.ports);
  world.mailboxes.events.add({ id: 'd', body });
  const [deadLetter] = (await findDeadLetters(['d'], ['events'], world.ports)) as [DeadLetter];
  expect(deadLetter.problems).toEqual(problems);
  expect(await isSuperseded(deadLetter, world.ports)).toBe(false);
});

it('replayDeadLetters finds a selected message behind 200 other messages', async () => {
  const world = await worldWith(200, ['invalid_json']);
  world.mailboxes.events.add({ id: 'last', body: bodyOf(group('g')), code: 'too_old' });
  const selection = { code: 'too_old' };
  const report = await replayDeadLetters('events', world.ports, { connection, selection });
  expect(report).toMatchObject({ replayed: 1, remaining: 0 });
  expect(await world.mailboxes.events.counts()).toEqual({ visible: 200, inFlight: 0 });
});

it('replayDeadLetters loses no message after a crash between any two of its calls', async () => {
  for (const killAt of [1, 2, 3, 4, 5, 6, 9]) {
    const world = await worldWith(45);
    const everything = world.mailboxes.events.ids();
    let steps = 0;
    const dying = <Result>(run: () => Promise<Result>): Promise<Result> => {
      steps += 1;
      return steps >= killAt ? new Promise<Result>(() => {}) : run();
    };
    const { events: mailbox } = world.mailboxes;
    const ports = {
      ...world.ports,
      events: { send: (messages: never) => dying(() => world.ports.events.send(messages)) },
      mailboxes: {
        ...world.mailboxes,
        events: {
          ...mailbox,
          giveBack: () => Promise.resolve(),
          remove: (messages: never) => dying(() => mailbox.remove(messages)),
        },
      },
    };
    void replayDeadLetters('events', ports as never, { connection, selection: {} });
    await new Promise((resolve) => setImmediate(resolve));
    const lost = everything.length - world.mailboxes.events.ids().length - world.sent.length;
    expect(lost).toBeLessThanOrEqual(0);

    const report = await replayDeadLetters('events', world.ports, { connection, selection: {} });
    expect(report).toMatchObject({ failed: 0, remaining: 0 });
    expect(world.mailboxes.events.ids()).toEqual([]);
    expect(world.sent.length).toBeGreaterThanOrEqual(45);
  }
});

it('replayDeadLetters sends each message once, even if it is dead-lettered again during the replay', async () => {
  const world = await worldWith(25);
  let back = 0;
  const send = async (messages: readonly { body: string }[]) =>
    messages.map(({ body }) => {
      back += 1;
      world.mailboxes.events.add({ id: `back${back}`, body, originalMessageId: `again${back}` });
      return { messageId: `again${back}` };
    });
  const ports = { ...world.ports, events: { send } };
  const report = await replayDeadLetters('events', ports, { connection, selection: {} });
  expect(report).toMatchObject({ replayed: 25, failed: 0, remaining: 25, failedAgain: 25 });
  expect(world.mailboxes.events.ids()).toHaveLength(25);
});

it('a replayed message that fails again keeps the time of its first failure, and counts its failures', async () => {
  const world = await savedWorld();
  world.mailboxes.events.add({ id: 'd1', body: '{', code: 'invalid_json' });
  const firstMs = world.clock.ms;
  for (const failures of [2, 3]) {
    world.clock.ms += 3_600_000;
    await replayDeadLetters('events', world.ports, { connection, selection: {} });
    const resent = world.sent.at(-1) ?? { body: '' };
    await ingest([{ ...resent, messageId: 'm', sentAtMs: world.clock.ms }], world.ports);
    world.mailboxes.events.add({ ...(world.deadLettered.at(-1) as RejectedMessage), id: `d${failures}` });
    const survey = await surveyDeadLetters(world.ports, { queues: ['events'], limit: 10 });
    const [message] = await world.mailboxes.events.take(1, 1);
    expect(message).toMatchObject({ failures, firstFailedAtMs: firstMs });
    expect(survey.messages).toMatchObject([{ failures, ageMs: expect.any(Number) }]);
  }
});

it('messages that the events queue refuses in a replay count as failed, and stay in the dead-letter queue', async () => {
  const world = await worldWith(12);
  const send = async (messages: readonly unknown[]) =>
    messages.map((_, at) => (at === 0 ? { refused: 'too large' } : { messageId: `m${at}` }));
  const ports = { ...world.ports, events: { send } };
  const report = await replayDeadLetters('events', ports, { connection, selection: {} });
  expect(report).toMatchObject({ failed: 2, replayed: 10 });
  expect(await world.mailboxes.events.counts()).toEqual({ visible: 2, inFlight: 0 });
});

it('replayDeadLetters reports the number of sent messages if it cannot delete them', async () => {
  const world = await worldWith(25);
  const fails = () => Promise.reject(new Error('the queue did not answer'));
  const events = { ...world.mailboxes.events, giveBack: fails };
  const ports = { ...world.ports, mailboxes: { ...world.mailboxes, events } };
  expect(await surveyDeadLetters(ports, { queues: ['events'], limit: 1 })).toMatchObject({ complete: true });
  world.clock.ms += HOLD_SECONDS * 1_000;
  events.remove = fails;
  const replayed = replayDeadLetters('events', ports, { connection, selection: {} });
  await expect(replayed).rejects.toThrow(
    'sent 10 messages, but some may still be in the dead-letter queue: the queue',
  );
});

it('replayDeadLetters stops between two batches on request', async () => {
  const world = await worldWith(50);
  const stopping = new AbortController();
  const report = await replayDeadLetters('events', world.ports, {
    connection,
    selection: {},
    signal: stopping.signal,
    onProgress: ({ replayed }) => replayed >= 20 && stopping.abort(),
  });
  expect(report).toMatchObject({ replayed: 20, cancelled: true });
  expect(await world.mailboxes.events.counts()).toEqual({ visible: 30, inFlight: 0 });
});

it('replayDeadLetters counts a selected message that another consumer has received as remaining', async () => {
  const world = await worldWith(2);
  await world.mailboxes.events.take(1, 300);
  const selection = { ids: ['d0', 'd1'] };
  const report = await replayDeadLetters('events', world.ports, { connection, selection });
  expect(report).toMatchObject({ replayed: 1, remaining: 1 });
});

it('discardDeadLetters deletes no further message after it was cancelled', async () => {
  const { ports, mailboxes } = await worldWith(3);
  const stopping = new AbortController();
  const { remove } = mailboxes.events;
  mailboxes.events.remove = async (messages) => {
    stopping.abort();
    await remove(messages);
  };
  const options = { reason: 'r', signal: stopping.signal, ports };
  expect(await discardDeadLetters('events', new Set(['d0', 'd1', 'd2']), options)).toBe(1);
});

it('a replay or discard that cannot be recorded changes nothing', async () => {
  const { ports, mailboxes, sent } = await worldWith(2);
  const record = () => Promise.reject(new Error('the table did not answer'));
  const unrecorded = { ...ports, audit: { ...ports.audit, record } };
  const replayed = replayDeadLetters('events', unrecorded, { connection, selection: {} });
  await expect(replayed).rejects.toThrow('the table did not answer');
  const discarded = discardDeadLetters('events', new Set(['d0']), { reason, ports: unrecorded });
  await expect(discarded).rejects.toThrow('the table did not answer');
  expect([sent, mailboxes.events.ids()]).toEqual([[], ['d0', 'd1']]);
});

it('replayDeadLetters finds every selected message, also if a send takes longer than the visibility timeout', async () => {
  const world = await worldWith(60);
  const { events } = world.ports;
  const send = events.send.bind(events);
  const slow = async (messages: Parameters<typeof send>[0]) => {
    world.clock.ms += HOLD_SECONDS * 900;
    return send(messages);
  };
  const ports = { ...world.ports, events: { ...events, send: slow } };
  const report = await replayDeadLetters('events', ports, { connection, selection: { code: 'too_old' } });
  expect(report).toMatchObject({ replayed: 20, failed: 0, remaining: 0, cancelled: false });
  // Each message that is not selected is received once. Then it stays hidden until the replay ends.
  expect(world.mailboxes.events.mostTaken()).toBe(1);
  expect(await world.mailboxes.events.counts()).toEqual({ visible: 40, inFlight: 0 });
});

const code = 'platform_rejected';
/** Adds the message of a group that failed at this revision. */
function addFailed({ mailboxes, refOf }: Awaited<ReturnType<typeof savedWorld>>, id: string, rev: number) {
  const body = JSON.stringify(refOf(id));
  mailboxes.apply.add({ id: `${id}-${rev}`, body, code, originalMessageId: `default/${id}/${rev}` });
}

it('replayDeadLetters wakes a failed group once for all its messages, and keeps a message about a new failure', async () => {
  const world = await savedWorld();
  await world.publish(group('g'));
  const ref = world.refOf('g');
  // More messages than one batch.
  for (let rev = 1; rev > -11; rev -= 1) addFailed(world, 'g', rev);
  world.woken.length = 0;
  world.mailboxes.apply.onTake = () => {
    if (world.woken.length > 0 && !world.mailboxes.apply.ids().includes('g-2')) addFailed(world, 'g', 2);
  };
  const report = await replayDeadLetters('apply', world.ports, { connection, selection: { code } });
  expect(report).toMatchObject({ replayed: 12, remaining: 1 });
  expect(world.woken).toEqual([ref]);
  expect((await world.ports.groups.read(ref))?.rev).toBe(2);
  expect(world.mailboxes.apply.ids()).toEqual(['g-2']);
});

it('replayDeadLetters creates no group for a message about a group whose data was erased', async () => {
  const world = await savedWorld();
  const ref = world.refOf('erased');
  addFailed(world, 'erased', 1);
  world.woken.length = 0;
  const report = await replayDeadLetters('apply', world.ports, { connection, selection: { code } });
  expect(report).toMatchObject({ replayed: 1, remaining: 0 });
  expect(await world.ports.groups.read(ref)).toBeUndefined();
  expect([world.woken, world.mailboxes.apply.ids()]).toEqual([[], []]);
});

it('a message of apply is superseded if its group exists and is not failed', async () => {
  const world = await savedWorld();
  await world.publish(group('g'));
  for (const id of ['g', 'erased']) addFailed(world, id, 1);
  const judged = async () => {
    const found = await findDeadLetters(['g-1', 'erased-1'], ['apply'], world.ports);
    return Promise.all(found.map((one) => isSuperseded(one, world.ports)));
  };
  expect(await judged()).toEqual([true, false]);
  const state = await world.ports.groups.read(world.refOf('g'));
  await world.ports.groups.fail(state as never, { code, message: 'no', atMs: 1, reported: '' }, 'a');
  expect(await judged()).toEqual([false, false]);
});

it('replayDeadLetters keeps for each group the time of its own first failure', async () => {
  const world = await savedWorld();
  await world.publish(group('g'), group('h'));
  const times: string[] = [];
  for (const id of ['g', 'h']) {
    times.push(`1 ${new Date(world.clock.ms).toISOString()}`);
    addFailed(world, id, 0);
    world.clock.ms += 60_000;
    addFailed(world, id, 1);
    world.clock.ms += 3_600_000;
  }
  await replayDeadLetters('apply', world.ports, { connection, selection: {} });
  const states = await Promise.all(['g', 'h'].map((id) => world.ports.groups.read(world.refOf(id))));
  expect(states.map((state) => state?.failureReport?.failedBefore)).toEqual(times);
});

const reason = 'fixed the producer';
const journal = ({ audit }: Awaited<ReturnType<typeof savedWorld>>) => audit(journalOf(connection).group);

it('an edited message is sent with its new body, and its original is recorded even without a group', async () => {
  const world = await savedWorld();
  world.mailboxes.events.add({ id: 'd', body: bodyOf(group('g', '')), sentBy: 'local:bob' });
  const [deadLetter] = await findDeadLetters(['d'], ['events', 'apply'], world.ports);
  const body = bodyOf(group('g', 'Named'));
  const ofOtherType = body.replace('directory.', 'other.');
  expect(problemsOf(ofOtherType, (deadLetter as DeadLetter).message, NOW_MS)).toEqual([
    'the message contains no event of a directory',
  ]);
  const refusing = { ...world.ports, events: { send: async () => [{ refused: 'too large' }] } };
  const refused = sendAmended(deadLetter as never, { body, reason }, refusing);
  await expect(refused).rejects.toThrow('refused the message: too large');
  expect(world.mailboxes.events.ids()).toEqual(['d']);
  expect(await sendAmended(deadLetter as never, { body, reason }, world.ports)).toBe(true);
  expect(world.sent).toMatchObject([{ body, sentBy: undefined }]);
  expect(world.mailboxes.events.ids()).toEqual([]);
  const [entry] = await journal(world);
  const actor = { kind: 'operator', id: 'local:tester' };
  const changes = [{ before: bodyOf(group('g', '')), after: body }];
  expect(entry).toMatchObject({ action: 'dlq_edit', group: 'g', actor, reason, changes });
});

it('an edited message replaces the original, even if ingest has already stored the original', async () => {
  const world = await savedWorld();
  const snapshot = (...names: string[]) => bodyOf({ ...added('g', ...names), type: 'group.snapshot' });
  const sentAtMs = NOW_MS;
  await ingest([{ messageId: 'm', body: snapshot('ann', 'bob'), sentAtMs }], world.ports);
  world.mailboxes.events.add({ id: 'd', body: snapshot('ann', 'bob'), originalMessageId: 'm' });
  const [deadLetter] = await findDeadLetters(['d'], ['events'], world.ports);
  await sendAmended(deadLetter as never, { body: snapshot('ann'), reason: 'bob left' }, world.ports);
  const [{ body, stamp } = { body: '', stamp: undefined }] = world.sent;
  await ingest([{ messageId: 'm2', body, stamp, sentAtMs }], world.ports);
  const state = await world.ports.groups.read(world.refOf('g'));
  const members = await world.ports.groups.members(world.refOf('g'));
  const counted = members.filter(({ stamp: at }) => at >= (state?.registers.snapshot ?? ''));
  expect(counted.map(({ member }) => member)).toEqual(['m-ann']);
});

it('the journal records the whole text of a large discarded message that belongs to no group', async () => {
  const world = await savedWorld();
  const body = `{"${'é"🚀'.repeat(140_000)}`;
  world.mailboxes.events.add({ id: 'd', body });
  const [deadLetter] = await findDeadLetters(['d'], ['events'], world.ports);
  const { queue, message } = deadLetter as never as DeadLetter;
  expect(await discardDeadLetters(queue, new Set([message.id]), { reason, ports: world.ports })).toBe(1);
  const entries = await journal(world);
  const kept = entries.flatMap(({ changes }) => changes.map(({ before }) => before));
  expect(entries[1]).toMatchObject({ action: 'dlq_discard', changes: [{ after: null }] });
  expect(kept.reverse().join('') === body).toBe(true);
  expect(world.mailboxes.events.ids()).toEqual([]);
});

it('an edited message whose original could not be deleted is reported as sent', async () => {
  const { ports, mailboxes } = await worldWith(1);
  const [deadLetter] = (await findDeadLetters(['d0'], ['events'], ports)) as [DeadLetter];
  mailboxes.events.remove = () => Promise.reject(new Error('the queue did not answer'));
  const words = { body: bodyOf(group('g', 'X')), reason };
  await expect(sendAmended(deadLetter, words, ports)).rejects.toThrow(
    /^the edited message was sent, .* groupsync dlq discard d0$/,
  );
});

it('an edited message is not sent if another client has received the original', async () => {
  const world = await savedWorld();
  world.mailboxes.events.add({ id: 'd', body: bodyOf(group('g')) });
  const [deadLetter] = await findDeadLetters(['d'], ['events'], world.ports);
  await world.mailboxes.events.take(10, 300);
  const words = { body: bodyOf(group('g', 'X')), reason };
  expect(await sendAmended(deadLetter as never, words, world.ports)).toBe(false);
  expect(world.sent).toEqual([]);
  expect(await journal(world)).toEqual([]);
});

it.each([
  ['without a connection', undefined, undefined],
  ['with an attribute of another connection', 'default', undefined],
  ['with an event of another connection', undefined, 'default'],
])('a dead-lettered message %s does not change data of another company', async (_, attribute, named) => {
  const world = await savedWorld();
  const { ports, mailboxes } = world;
  await ports.connections.save({ ...world.connection, name: OF_ACME.to });
  world.clock.ms += 60_000;
  await world.publish(deleted('g'));
  const body = bodyOf({ ...group('g'), connection: named });
  mailboxes.events.add({ id: 'd', body, connection: attribute, queue: OF_ACME.queue });
  const listed = async () => (await surveyDeadLetters(ports, { queues: ['events'], limit: 1 })).messages[0];
  const [deadLetter] = (await findDeadLetters(['d'], ['events'], ports)) as [DeadLetter];
  const { document } = await describeDeadLetter(deadLetter, ports);
  const isRefused = attribute !== named;
  const refusal = isRefused ? expect.stringMatching(/^wrong_connection/) : null;
  expect(await listed()).toMatchObject({ connection: 'acme', superseded: false, refusal });
  const events = { length: isRefused ? 0 : 1 };
  expect(document).toMatchObject({ connection: 'acme', superseded: false, events, now: [] });

  await world.publish({ ...deleted('g'), connection: 'acme' });
  expect(await listed()).toMatchObject({ superseded: !isRefused });
  const others = bodyOf({ ...group('g'), connection: 'default' });
  expect(problemsOf(others, deadLetter.message, NOW_MS)).toHaveLength(attribute === undefined ? 1 : 0);
  expect(await sendAmended(deadLetter, { body, reason: 'r' }, ports)).toBe(true);
  expect(world.sent).toMatchObject([attribute ? { queue: undefined } : { queue: OF_ACME.queue }]);
  expect([await world.audit('g', OF_ACME.to), await world.audit('g')]).toMatchObject([[{}], []]);
});

it('a message of a removed source belongs to the connection that it names, or to no connection', async () => {
  const world = await savedWorld();
  await world.publish(group('g'));
  const gone = { body: bodyOf(group('g')), queue: 'groupsync-events-gone' };
  for (const of of ['acme', undefined])
    world.mailboxes.events.add({ ...gone, id: `of-${of}`, connection: of });
  const deadLetters = await findDeadLetters(['of-acme', 'of-undefined'], ['events'], world.ports);
  expect(deadLetters).toMatchObject([{ connection: 'acme' }, { connection: undefined }]);
  for (const { queue, message } of deadLetters)
    await discardDeadLetters(queue, new Set([message.id]), { reason: 'r', ports: world.ports });
  // The action on the message without a connection is recorded in the journal of the default connection.
  const [theirs, ours] = [journalOf(OF_ACME.to), journalOf(connection)].map((one) => one.group);
  expect(await world.audit(theirs as string, OF_ACME.to)).toHaveLength(1);
  expect([await world.audit(ours as string), await world.audit('g')]).toMatchObject([[{}], []]);
});
