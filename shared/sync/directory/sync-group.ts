import type { ReaderGroup } from '../../domain/reader-group.ts';
import { outcomeOf, type ReadOutcome } from '../../plan/directory/outcome.ts';
import { differenceOf } from '../../plan/directory/read.ts';
import { afterRead } from '../../plan/directory/schedule.ts';
import { stampTimeOf } from '../../plan/directory/stamp.ts';
import type { DirectoryUser } from '../ports/directory.ts';
import { maySend, noteAnswer, originAt, type ReaderRun, send, stampOf, storeGroup } from './context.ts';
import { changeMessages, type Origin, snapshotMessage, userMessages } from './events.ts';
import { comparedOf, leaveOut, withOwner } from './other-source.ts';
import { withPrimaryAddresses } from './primary-address.ts';
import { takeKey } from './reported-groups.ts';
import { readStored } from './stored.ts';
import { readWhole, type WholeGroup } from './whole-group.ts';

/**
 * Reads a whole group, compares it with the desired state, and sends the differences.
 *
 *     read the directory ──▶ read desired state ──▶ send users, then the group ──▶ store the time of the next read
 *
 * After a crash at any arrow, the next run reads the group again. A repeated event has no further effect.
 * @returns false if the directory has no such group
 */
export async function syncGroup(given: ReaderGroup, run: ReaderRun): Promise<boolean> {
  const { directory, connection, ports, users, report } = run;
  const known = await withOwner(given, run);
  if (known.other !== undefined && known.other !== known.group) return leaveOut(known, run);
  const { nested } = connection.settings;
  const { listed, questions } = run;
  const reading = { listed, questions, nested, known: known.below ?? [] };
  const found = await readWhole(directory, known.group, reading);
  if (found === undefined) return false;
  if (known.readMs !== undefined && found.group.address !== known.address) {
    // A report may have meant another group that has this address now.
    await takeKey(run, known.address, known.reportedMs ?? found.asOfMs);
  }
  await users.read(found.users.keys());
  const whole = { ...found, users: await withPrimaryAddresses(run, found.users) };
  const origin = originAt(run, stampTimeOf(whole.asOfMs, known.sentMs));
  const stamp = stampOf(origin);
  const ref = { connection: connection.name, group: known.group };
  const stored = await readStored(ref, ports, users);
  const { name } = whole.group;
  const read = { name, members: new Set(whole.users.keys()), isShort: whole.isShort };
  const nowMs = ports.clock();
  const difference = differenceOf(read, stored, stamp);
  const outcome = outcomeOf(read, difference, known, { nowMs, lagMs: directory.lagMs });
  if (!maySend(run, known)) {
    report.read += 1;
    await noteAnswer(run);
    const done = { outcome, whole, news: [], stampMs: origin.stampMs, nowMs };
    await storeGroup(run, comparedOf(nextOf(known, run, done), { whole, difference, nowMs }));
    return true;
  }
  const news = [...whole.users.values()].filter((user) => users.isNews(user, stamp));
  const messages = messagesOf(outcome, whole, origin);
  // Users are noted before the messages are sent, because groups that are read at the same time share members. A run
  // that cannot send fails.
  for (const user of news) users.noteSent(user, stamp);
  await send(run, [...userMessages(news, origin), ...messages]);
  report.read += 1;
  await noteAnswer(run);
  if (messages.length > 0) report.sent += 1;
  await storeGroup(run, nextOf(known, run, { outcome, whole, news, stampMs: origin.stampMs, nowMs }));
  return true;
}

function messagesOf(outcome: ReadOutcome, { group }: WholeGroup, origin: Origin): readonly string[] {
  const named = { id: group.id, name: group.name };
  if (outcome.kind === 'snapshot') return [snapshotMessage(named, outcome.members, origin)];
  if (outcome.kind === 'changes') return changeMessages(named, outcome, origin);
  return [];
}

interface Done {
  readonly outcome: ReadOutcome;
  readonly whole: WholeGroup;
  readonly news: readonly DirectoryUser[];
  readonly stampMs: number;
  readonly nowMs: number;
}

function nextOf(known: ReaderGroup, { ports, directory }: ReaderRun, done: Done): ReaderGroup {
  const { outcome, whole, news, stampMs, nowMs } = done;
  const next = afterRead(known, {
    outcome,
    address: whole.group.address,
    asOfMs: whole.asOfMs,
    stampMs,
    below: whole.below,
    nowMs,
    lagMs: directory.lagMs,
    spread: ports.random(),
  });
  const { name } = whole.group;
  const owned = known.other === undefined ? { ...next, name } : { ...next, name, other: known.other };
  // The next event of this group must not be earlier than the messages about its users.
  return news.length === 0 ? owned : { ...owned, sentMs: stampMs };
}
