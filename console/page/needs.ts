import type { Attention, Home as HomeAnswer } from '../answers.ts';
import { duration, minute, number, percent } from './format.ts';
import { personName } from './parts.tsx';
import { pathTo, type ToPage } from './route.ts';
import { T } from './texts.ts';

export interface Need {
  readonly key: string;
  readonly tone: 'bad' | 'warn';
  readonly title: string;
  readonly text: string;
  readonly href: string;
  readonly next: string;
  /** The version of the item, for hiding it until it changes; null if the item cannot be hidden. */
  readonly version: string | null;
}

const need = (
  [key, tone]: readonly [string, Need['tone']],
  [title, text]: readonly [string, string],
  [href, next]: readonly [string, string],
  version: string | null = title,
): Need => ({ key, tone, title, text, href, next, version });

/** Returns problems that block all writes, or may soon block them. */
function gateNeeds({ gate, credential, failingCalls }: Attention['status'], to: ToPage): readonly Need[] {
  const tone = gate.state === 'unauthorized' ? 'bad' : 'warn';
  const next = gate.state === 'paused' ? T.conn.resume : T.home.gateNext;
  // The reason may end with an answer of the platform, which is folded.
  const why = [gate.contact, gate.reason].filter((text) => text !== null).join('. ');
  const texts = [T.conn.gates[gate.state] ?? gate.state, why] as const;
  const { failure } = credential;
  const at = to('connection');
  const needs: Need[] = [];
  if (gate.state !== 'open') needs.push(need(['gate', tone], texts, [at, next], null));
  for (const { endpoint, failed, total, share, since, reason } of failingCalls) {
    const counts = `${number(failed)} of ${T.many(total, 'call')}`;
    const text = T.home.failingCallsText(counts, minute(since), reason);
    const title = T.home.failingCalls(percent(share), endpoint);
    needs.push(need([`calls ${endpoint}`, 'bad'], [title, text], [at, T.home.gateNext], null));
  }
  if (failure !== null && tone !== 'bad') {
    needs.push(
      need(['credential', 'bad'], [T.home.credential, failure.message], [at, T.home.gateNext], null),
    );
  }
  return needs;
}

const MAX_ROWS = 3;

/** Returns one row per item. For more than `MAX_ROWS` items, returns a single row that links to the list. */
const collapsed = <Item>(items: readonly Item[], one: (item: Item) => Need, all: (count: number) => Need) =>
  items.length <= MAX_ROWS ? items.map(one) : [all(items.length)];

function holdNeeds(holds: Attention['holds'], to: ToPage): readonly Need[] {
  const { home } = T;
  const waiting = holds.filter(({ decision }) => decision === 'waiting');
  const people = waiting.reduce((sum, { removes }) => sum + removes, 0);
  return collapsed(
    waiting,
    ({ group, name, removes, share, rule, digest }) => {
      const why = home.holdText(percent(share), home.rules[rule]);
      const texts = [home.hold(removes, name ?? group), why] as const;
      return need([`hold ${group}`, 'warn'], texts, [to('holds', group), home.holdNext], digest);
    },
    (count) => {
      const texts = [home.holds(count), home.holdsText(people)] as const;
      return need(['holds', 'warn'], texts, [to('holds'), home.holdsNext]);
    },
  );
}

function failedNeeds({ failed, status }: Attention, to: ToPage): readonly Need[] {
  const { home } = T;
  const { failed: count = failed.length } = status.groups;
  const list = to('groups', '', { state: 'failed' });
  return collapsed(
    failed,
    ({ id, name, lastError }) => {
      const texts = [home.failedGroup(name ?? id), lastError ?? ''] as const;
      return need([`failed ${id}`, 'bad'], texts, [to('groups', id), home.failedNext], lastError ?? '');
    },
    () => {
      const errors = new Set(failed.map(({ lastError }) => lastError ?? ''));
      const texts = [home.failedGroups(count), [...errors].slice(0, MAX_ROWS).join('; ')] as const;
      return need(['failed', 'bad'], texts, [list, home.groupsNext]);
    },
  );
}

/** A group with several differences has one row. */
function driftNeeds(drift: Attention['drift'], to: ToPage): readonly Need[] {
  const { home } = T;
  const groups = [...new Map(drift.map((row) => [row.group, row])).values()];
  return collapsed(
    groups,
    ({ group, name, initiator, actor, detectedAt }) => {
      const kinds = new Set(drift.filter((row) => row.group === group).map(({ kind }) => kind));
      const what = [...kinds].map((kind) => T.activity.actions[`drift_${kind}`] ?? kind).join(', ');
      const texts = [home.drift(name ?? group), `${what}; ${actor?.name ?? initiator}`] as const;
      return need([`drift ${group}`, 'warn'], texts, [to('groups', group), home.driftNext], detectedAt);
    },
    (count) => {
      const names = groups.slice(0, MAX_ROWS).map(({ group, name }) => name ?? group);
      const texts = [home.drifts(count), home.unmatchedText(names.join(', '), count - names.length)] as const;
      return need(['drift', 'warn'], texts, [
        to('activity', '', { text: 'outcome:report' }),
        home.driftsNext,
      ]);
    },
  );
}

function rehireNeeds(unmatched: Attention['unmatched'], to: ToPage): readonly Need[] {
  const { home } = T;
  return collapsed(
    unmatched.filter(({ rehire }) => rehire !== null),
    ({ person, rehire }) => {
      const texts = [home.rehire(personName(person)), home.rehireText(person.id, rehire ?? '')] as const;
      return need([`rehire ${person.id}`, 'warn'], texts, [to('people', person.id), home.rehireNext]);
    },
    (count) =>
      need(['rehires', 'warn'], [home.rehires(count), home.rehiresText], [to('people'), home.unmatchedNext]),
  );
}

/** Returns one item for each cause of dead-lettered messages. */
export const messageNeeds = (causes: HomeAnswer['causes'], to: ToPage = pathTo): readonly Need[] =>
  causes.map(({ code, count, oldestMs }) => {
    const cause = T.deadLetters.causes[code] ?? code;
    const texts = [T.home.deadLetters(count, cause), T.home.deadLettersText(duration(oldestMs))] as const;
    return need([`dead-lettered messages ${code}`, 'bad'], texts, [
      to('dead-letters', '', { code }),
      T.home.deadLettersNext,
    ]);
  });

/** Returns the items that need attention, each with one next step. */
export function needsOf(
  answer: Attention & Partial<Pick<HomeAnswer, 'causes'>>,
  to: ToPage = pathTo,
): readonly Need[] {
  const { home } = T;
  const { unmatched, unmatchedTotal } = answer;
  const names = unmatched.slice(0, MAX_ROWS).map(({ person }) => personName(person));
  const unmatchedNames = home.unmatchedText(names.join(', '), unmatchedTotal - names.length);
  const needs = [
    ...gateNeeds(answer.status, to),
    ...holdNeeds(answer.holds, to),
    ...failedNeeds(answer, to),
    ...messageNeeds(answer.causes ?? [], to),
    ...driftNeeds(answer.drift, to),
    ...rehireNeeds(unmatched, to),
  ];
  if (unmatchedTotal > 0) {
    const texts = [home.unmatched(unmatchedTotal), unmatchedNames] as const;
    needs.push(need(['unmatched', 'warn'], texts, [to('people'), home.unmatchedNext]));
  }
  return needs;
}

/**
 * Separates the items to show from the hidden items. An item that was hidden until it changes is shown again after a
 * change.
 */
export function splitHidden(needs: readonly Need[], acknowledged: HomeAnswer['acknowledged']) {
  const isHidden = ({ key, version }: Need) =>
    version !== null &&
    acknowledged.some((one) => one.item === key && (one.version === null || one.version === version));
  return { shown: needs.filter((one) => !isHidden(one)), hidden: needs.filter(isHidden) };
}
