import type { Finding } from '../../shared/domain/notice.ts';
import { HOUR_MS, MINUTE_MS } from '../simulation-run.ts';
import type { Seen } from '../world.ts';
import { hasWaiting, holdsIn, partitionOf, readItem, type StoredGroup, type StoredMember } from './stored.ts';

export interface SentNotification {
  readonly isOver: boolean;
}

/** The state of one connection, as groupsync shows it to operators. */
export interface Shown {
  readonly atMs: number;
  readonly found: readonly Finding[];
  readonly holds: readonly { readonly group: string; readonly digest: string; readonly decision: string }[];
  /** The pending members, each in the form `<group> <member> <cause>`. */
  readonly pending: readonly string[];
  readonly groups: readonly { readonly group: string; readonly state: string }[];
  /** Ids of the messages in the dead-letter queue of events; undefined if the list was not complete. */
  readonly deadLetters: readonly string[] | undefined;
}

export interface Truth {
  readonly atMs: number;
  readonly groups: ReadonlyMap<string, StoredGroup>;
  readonly pending: ReadonlySet<string>;
  readonly deadLetters: ReadonlySet<string>;
  /** The dead-lettered messages that no consumer has in flight. */
  readonly visible: ReadonlySet<string>;
  readonly gate: string;
  readonly gateSinceMs: number | undefined;
}

export function truthOf(seen: Seen, name: string): Truth {
  const groups = new Map<string, StoredGroup>();
  const pending = new Set<string>();
  const prefix = partitionOf(name, '');
  for (const [key, item] of seen.items) {
    if (!key.startsWith(prefix)) continue;
    const group = String(item['group'] ?? '');
    if (key.endsWith(' GROUP') && item['rev'] !== undefined)
      groups.set(group, item as unknown as StoredGroup);
    const { member, pendingCause } = item as unknown as StoredMember;
    if (pendingCause !== undefined) pending.add(`${group} ${member} ${pendingCause}`);
  }
  const { state = 'open', sinceMs } =
    readItem<{ state?: string; sinceMs?: number }>(seen, `C#${name} GATE`) ?? {};
  return {
    atMs: seen.nowMs(),
    groups,
    pending,
    deadLetters: new Set(seen.queues.eventsDlq.map(({ id }) => id)),
    visible: new Set(
      seen.queues.eventsDlq.flatMap(({ id, visibleAtMs }) => (visibleAtMs <= seen.nowMs() ? [id] : [])),
    ),
    gate: state,
    gateSinceMs: sinceMs,
  };
}

interface Compared {
  readonly name: string;
  /** The stored state at several times: from so old that the index shows it, to newer than the answers. */
  readonly samples: readonly Truth[];
  readonly shown: Shown;
}

/** The tolerance for durations. The clocks of workers differ by at most 3 seconds, and an answer takes some seconds. */
const SLACK_MS = 30_000;
/** After this time, groupsync reports changes that wait. */
const WAITED_MS = HOUR_MS;
/** After this time, groupsync reports a closed gate. */
const CLOSED_MS = 30 * MINUTE_MS;

type Wrong = (cause: string, sentence: string, group?: string) => void;

/** Compares what an operator sees with the stored values that did not change between two samples. */
export function checkShown(seen: Seen, compared: Compared): void {
  const { name, samples } = compared;
  const wrong: Wrong = (cause, sentence, group) =>
    seen.runLog.violated({
      check: 'shown',
      cause,
      connection: name,
      ...(group !== undefined && { group }),
      sentence,
    });
  const groups = stableGroups(samples);
  checkHolds(compared, groups, wrong);
  checkGroups(compared, groups, wrong);
  checkFindings(compared, groups, wrong);
  checkGate(compared, wrong);
  checkPending(compared, wrong);
  checkDeadLetters(compared, wrong);
}

const factsOf = (item: StoredGroup | undefined): string => {
  const { rev, dirtySince, failedAt, pausedAt, settled } = item ?? {};
  const held = heldIn(item ?? {});
  return JSON.stringify([item !== undefined, rev, dirtySince, failedAt, pausedAt, settled, held]);
};

/** Returns the groups whose stored values are equal in all samples. */
function stableGroups([first, ...others]: readonly Truth[]): ReadonlyMap<string, StoredGroup> {
  const isStable = ([group, item]: readonly [string, StoredGroup]) =>
    others.every(({ groups }) => factsOf(groups.get(group)) === factsOf(item));
  return new Map([...(first?.groups ?? [])].filter(isStable));
}

type Stable = ReadonlyMap<string, StoredGroup>;

const heldIn = (item: StoredGroup) =>
  holdsIn(item)
    .map(({ digest, decision }) => `${digest} ${decision.kind}`)
    .sort();

function checkHolds({ shown }: Compared, stable: Stable, wrong: Wrong): void {
  for (const [group, item] of stable) {
    const listed = shown.holds
      .filter((one) => one.group === group)
      .map(({ digest, decision }) => `${digest} ${decision}`)
      .sort();
    const stored = heldIn(item);
    if (listed.join() === stored.join()) continue;
    const sentence = `The group ${group} has ${stored.length} holds stored (${stored.join(', ') || 'none'}). Expected the same holds in the list of holds, but it shows ${listed.join(', ') || 'none'}.`;
    wrong('holds', sentence, group);
  }
}

function checkGroups({ shown }: Compared, stable: Stable, wrong: Wrong): void {
  const states = new Map(shown.groups.map(({ group, state }) => [group, state]));
  for (const [group, item] of stable) {
    const { dirtySince, failedAt, pausedAt, settled } = item;
    const clean = failedAt !== undefined ? 'failed' : settled;
    const unpaused = dirtySince !== undefined ? 'dirty' : clean;
    const expected = pausedAt !== undefined ? 'paused' : unpaused;
    const state = states.get(group);
    // If groupsync has received only events about the members of a group, its state is shown as `unknown`.
    if (
      state === expected ||
      (expected ?? 'in_sync') === state ||
      (state === 'unknown' && settled === 'deleted')
    )
      continue;
    const sentence = `The group ${group} is stored as ${expected}. Expected the same state in the list of groups, but it shows ${state ?? 'no such group'}.`;
    wrong('groups', sentence, group);
  }
}

/**
 * Returns the smallest and the largest correct count of groups with a property. The smallest count includes only stable
 * groups. The largest count also includes each group that changed between two samples and may have had the property.
 */
function rangeOf(
  { samples }: Compared,
  stable: Stable,
  is: (item: StoredGroup) => boolean,
): readonly [least: number, most: number] {
  const sure = [...stable.values()].filter(is).length;
  const last = samples.at(-1);
  const mayBe = (group: string, item: StoredGroup) =>
    !stable.has(group) && (is(item) || last?.groups.get(group)?.rev !== item.rev);
  const may = new Set(
    samples.flatMap(({ groups }) =>
      [...groups].filter(([group, item]) => mayBe(group, item)).map(([group]) => group),
    ),
  );
  return [sure, sure + may.size];
}

const countOf = ({ found }: Shown, subject: Finding['subject']): number =>
  found.find((one) => one.subject === subject)?.count ?? 0;

function checkFindings(compared: Compared, stable: Stable, wrong: Wrong): void {
  const { samples, shown } = compared;
  const outside = (count: number, [least, most]: readonly [number, number]) => count < least || count > most;
  const held = rangeOf(compared, stable, hasWaiting);
  const holds = countOf(shown, 'hold');
  if (outside(holds, held))
    wrong('levels', `Expected ${held.join(' to ')} held groups to report, as stored, but got ${holds}.`);
  // Groups that wait because of a closed gate are not reported, and a gate that opened was closed before.
  if (samples.some(({ gate, gateSinceMs }) => gate !== 'open' || gateSinceMs !== undefined)) return;
  if (countOf(shown, 'gate') > 0) return;
  const waitsFor = (leastMs: number) => (item: StoredGroup) =>
    item.dirtySince !== undefined &&
    shown.atMs - item.dirtySince > leastMs &&
    item.failedAt === undefined &&
    item.settled !== 'name_clash' &&
    item.lastError?.code !== 'missing_held' &&
    !hasWaiting(item);
  const least = rangeOf(compared, stable, waitsFor(WAITED_MS + SLACK_MS))[0];
  const most = rangeOf(compared, stable, waitsFor(WAITED_MS - SLACK_MS))[1];
  const waiting = countOf(shown, 'waiting') + countOf(shown, 'access');
  if (outside(waiting, [least, most]))
    wrong('levels', `Expected ${least} to ${most} groups that wait for over an hour, but got ${waiting}.`);
}

function checkGate({ samples, shown }: Compared, wrong: Wrong): void {
  const [first] = samples;
  if (
    first === undefined ||
    samples.some(({ gate, gateSinceMs }) => gate !== first.gate || gateSinceMs !== first.gateSinceMs)
  )
    return;
  const { gate, gateSinceMs = shown.atMs } = first;
  const isLong = gate === 'backoff' && shown.atMs - gateSinceMs > CLOSED_MS + SLACK_MS;
  if (!(gate === 'unauthorized' || isLong) || countOf(shown, 'gate') > 0) return;
  wrong('gate', `The gate is ${gate}, but no finding says that writes are blocked.`);
}

function checkPending({ samples, shown }: Compared, wrong: Wrong): void {
  const listed = new Set(shown.pending);
  const ever = new Set(samples.flatMap(({ pending }) => [...pending]));
  const missing = [...(samples[0]?.pending ?? [])].find(
    (one) => !listed.has(one) && samples.every(({ pending }) => pending.has(one)),
  );
  const surplus = shown.pending.find((one) => !ever.has(one));
  if (missing !== undefined)
    wrong(
      'pending',
      `Expected the list of pending members to show ${missing}, as stored, but the list lacks this member.`,
    );
  if (surplus !== undefined)
    wrong('pending', `The list shows ${surplus} as pending, but this member is not stored as pending.`);
}

function checkDeadLetters({ samples, shown: { deadLetters } }: Compared, wrong: Wrong): void {
  if (deadLetters === undefined) return;
  const ever = new Set(samples.flatMap((one) => [...one.deadLetters]));
  const missing = [...ever].find(
    (id) => !deadLetters.includes(id) && samples.every((one) => one.visible.has(id)),
  );
  const surplus = deadLetters.find((id) => !ever.has(id));
  if (missing !== undefined)
    wrong(
      'dead_letters',
      `The message ${missing} is in the dead-letter queue. Expected the message in the list of dead-lettered messages, but the list lacks it.`,
    );
  if (surplus !== undefined)
    wrong('dead_letters', `The list shows the dead-lettered message ${surplus}, which is not in the queue.`);
}

/** Returns the findings for which the last notification is missing or wrong. */
export function unreportedFindings(
  found: readonly Finding[],
  notified: ReadonlyMap<Finding['subject'], SentNotification>,
): readonly string[] {
  return found.flatMap(({ subject, count }) => {
    const last = notified.get(subject);
    const isNotified = last !== undefined && !last.isOver;
    if (isNotified === count > 0) return [];
    const outcome = last?.isOver ? 'it reports that they ended' : 'it does not report that they ended';
    const sent = last === undefined ? 'none was sent' : outcome;
    return `The subject "${subject}" has ${count} findings. Expected the last notification to match, but ${sent}.`;
  });
}
