import type { Home as HomeAnswer } from '../answers.ts';
import { duration, minute, number, percent } from './format.ts';
import { personName } from './parts.tsx';
import { pathTo } from './route.ts';
import { T } from './texts.ts';

export interface Need {
  readonly key: string;
  readonly tone: 'bad' | 'warn';
  readonly title: string;
  readonly text: string;
  readonly href: string;
  readonly next: string;
}

const need = (
  [key, tone]: readonly [string, Need['tone']],
  [title, text]: readonly [string, string],
  [href, next]: readonly [string, string],
): Need => ({ key, tone, title, text, href, next });

/** Returns problems that block all writes, or may soon do so. */
function gateNeeds({ gate, credential, failingCalls }: HomeAnswer['status']): readonly Need[] {
  const tone = gate.state === 'unauthorized' ? 'bad' : 'warn';
  const next = gate.state === 'paused' ? T.home.resumeNext : T.home.gateNext;
  const why = [gate.reason, gate.contact].filter((text) => text !== null).join('. ');
  const texts = [T.conn.gates[gate.state] ?? gate.state, why] as const;
  const { failure } = credential;
  const at = pathTo('connection');
  const needs: Need[] = [];
  if (gate.state !== 'open') needs.push(need(['gate', tone], texts, [at, next]));
  for (const { endpoint, failed, total, share, since, reason } of failingCalls) {
    const counts = `${number(failed)} of ${T.many(total, 'call')}`;
    const text = T.home.failingCallsText(counts, minute(since), reason);
    const title = T.home.failingCalls(percent(share), endpoint);
    needs.push(need([`calls ${endpoint}`, 'bad'], [title, text], [at, T.home.gateNext]));
  }
  if (failure !== null && tone !== 'bad') {
    needs.push(need(['credential', 'bad'], [T.home.credential, failure.message], [at, T.home.gateNext]));
  }
  return needs;
}

/** Up to this number, items of one kind have a row each. Above it, they share one row with their number. */
const MAX_ROWS = 3;

/** Returns one row per item, or one row for all of them that links to their list. */
const collapsed = <Item>(items: readonly Item[], one: (item: Item) => Need, all: (count: number) => Need) =>
  items.length <= MAX_ROWS ? items.map(one) : [all(items.length)];

function holdNeeds(holds: HomeAnswer['holds']): readonly Need[] {
  const { home } = T;
  const waiting = holds.filter(({ decision }) => decision === 'waiting');
  const people = waiting.reduce((sum, { removes }) => sum + removes, 0);
  return collapsed(
    waiting,
    ({ group, name, removes, share, rule }) => {
      const why = home.holdText(percent(share), home.rules[rule]);
      const texts = [home.hold(removes, name ?? group), why] as const;
      return need([`hold ${group}`, 'warn'], texts, [pathTo('holds', group), home.holdNext]);
    },
    (count) => {
      const texts = [home.holds(count), home.holdsText(people)] as const;
      return need(['holds', 'warn'], texts, [pathTo('holds'), home.holdsNext]);
    },
  );
}

function failedNeeds({ failed, status }: HomeAnswer): readonly Need[] {
  const { home } = T;
  const { failed: count = failed.length } = status.groups;
  const list = pathTo('groups', '', { state: 'failed' });
  return collapsed(
    failed,
    ({ id, name, lastError }) => {
      const texts = [home.failedGroup(name ?? id), lastError ?? ''] as const;
      return need([`failed ${id}`, 'bad'], texts, [pathTo('groups', id), home.failedNext]);
    },
    () => {
      const errors = new Set(failed.map(({ lastError }) => lastError ?? ''));
      const texts = [home.failedGroups(count), [...errors].slice(0, MAX_ROWS).join('; ')] as const;
      return need(['failed', 'bad'], texts, [list, home.groupsNext]);
    },
  );
}

/** A group with several differences has one row. */
function driftNeeds(drift: HomeAnswer['drift']): readonly Need[] {
  const { home } = T;
  const groups = [...new Map(drift.map((row) => [row.group, row])).values()];
  return collapsed(
    groups,
    ({ group, name, initiator, actor }) => {
      const kinds = new Set(drift.filter((row) => row.group === group).map(({ kind }) => kind));
      const what = [...kinds].map((kind) => T.activity.actions[`drift_${kind}`] ?? kind).join(', ');
      const texts = [home.drift(name ?? group), `${what}; ${actor?.name ?? initiator}`] as const;
      return need([`drift ${group}`, 'warn'], texts, [pathTo('groups', group), home.driftNext]);
    },
    (count) => {
      const names = groups.slice(0, MAX_ROWS).map(({ group, name }) => name ?? group);
      const texts = [home.drifts(count), home.unmatchedText(names.join(', '), count - names.length)] as const;
      return need(['drift', 'warn'], texts, [
        pathTo('activity', '', { text: 'outcome:report' }),
        home.driftsNext,
      ]);
    },
  );
}

/** Returns the items that need attention, each with one next step. */
export function needsOf(answer: HomeAnswer): readonly Need[] {
  const { home } = T;
  const { unmatched, unmatchedTotal } = answer;
  const names = unmatched.slice(0, MAX_ROWS).map(({ person }) => personName(person));
  const whoElse = home.unmatchedText(names.join(', '), unmatchedTotal - names.length);
  const needs = [
    ...gateNeeds(answer.status),
    ...holdNeeds(answer.holds),
    ...failedNeeds(answer),
    ...answer.causes.map(({ code, count, oldestMs }) => {
      const cause = T.deadLetters.causes[code] ?? code;
      const texts = [home.deadLetters(count, cause), home.deadLettersText(duration(oldestMs))] as const;
      return need([`dead-lettered messages ${code}`, 'bad'], texts, [
        pathTo('dead-letters', '', { code }),
        home.deadLettersNext,
      ]);
    }),
    ...driftNeeds(answer.drift),
  ];
  if (unmatchedTotal > 0) {
    const texts = [home.unmatched(unmatchedTotal), whoElse] as const;
    needs.push(need(['unmatched', 'warn'], texts, [pathTo('people'), home.unmatchedNext]));
  }
  return needs;
}
