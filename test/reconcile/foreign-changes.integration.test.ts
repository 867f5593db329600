import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DriftKind } from '../../shared/domain/drift.ts';
import type { DriftRecord } from '../../shared/sync/ports/logs.ts';
import {
  type Company,
  type Initiator,
  person,
  type ShownGroup,
  startCompany,
  userOf,
} from './support/company.ts';

/** How each foreign change is made; `other` is a group that another application has there already. */
interface Change {
  readonly kind: DriftKind;
  readonly make: (
    company: Company,
    group: ShownGroup,
    by: { initiator: Initiator; other: string },
  ) => Promise<unknown>;
}

const CHANGES: Readonly<Record<string, Change>> = {
  renamed: { kind: 'name', make: (c, { id }, { initiator }) => c.change(id, { name: 'Theirs', initiator }) },
  joined: {
    kind: 'members_added',
    make: (c, { id, users }, { initiator }) => c.change(id, { users: [...users, userOf(20)], initiator }),
  },
  left: {
    kind: 'members_removed',
    make: (c, { id, users }, { initiator }) => c.change(id, { users: users.slice(1), initiator }),
  },
  deleted: { kind: 'deleted', make: (c, { id }, { initiator }) => c.remove(id, initiator) },
  recreated: {
    kind: 'recreated',
    make: async (c, { id, spokeId }, { initiator }) => {
      await c.remove(id, initiator);
      await c.createAsOther({ name: 'Made again', spokeId: spokeId ?? '', users: [userOf(21)] });
    },
  },
  relabelled: {
    kind: 'spoke_id',
    make: (c, { id }, { initiator }) => c.change(id, { spokeId: 'theirs', initiator }),
  },
  unlabelled: {
    kind: 'spoke_id',
    make: (c, { id }, { initiator }) => c.change(id, { spokeId: null, initiator }),
  },
  copied: {
    kind: 'duplicate_spoke_id',
    make: (c, { spokeId }, { initiator, other }) => c.change(other, { spokeId, initiator }),
  },
};
const INITIATORS: readonly Initiator[] = ['ROLE', 'SYSTEM', 'EXTERNAL'];
const POLICIES = ['restore', 'report', 'adopt'] as const;

/** Every change under every policy, each by two of the three initiators in turn. */
const CASES = POLICIES.flatMap((policy, p) =>
  Object.keys(CHANGES).flatMap((change, c) =>
    [0, 1].map((turn) => ({
      policy,
      change,
      initiator: INITIATORS[(p + c + turn) % 3] as Initiator,
      id: `${policy}-${change}-${turn}`,
      other: `other-${policy}-${change}-${turn}`,
    })),
  ),
);
const CREATE_SETTLE_MS = 5_200;
/** Two hands on one group between two runs. */
const BOTH = ['restore-both', 'report-both'];
/** So many that the groups which others delete within the hour are no more than 5 % of all. */
const STILL = Array.from({ length: 200 }, (_, n) => `still-${n}`);
const QUIET = Array.from({ length: 10 }, (_, n) => `quiet-${n}`);

const snapshot = (id: string) => ({
  type: 'group.snapshot',
  data: { group: { id, name: `Group ${id}` }, members: [0, 1, 2, 3].map(person) },
});
const joins = (id: string, n: number) => ({
  type: 'group.member.added',
  data: { group: { id }, members: [person(n)] },
});

describe('fifty changes by others while events flow', () => {
  let company: Company;
  let drift: readonly DriftRecord[];
  const reports: Record<string, unknown>[] = [];
  const before = new Map<string, ShownGroup>();
  const shownById = new Map<string, ShownGroup>();

  beforeAll(async () => {
    const policies = POLICIES.map((policy) => ({ match: `${policy}-*`, mode: 'sync', drift: policy }));
    company = await startCompany({
      people: 30,
      groups: CASES.map(({ other }) => ({ id: other, name: other })),
      settings: [
        ['guard', null],
        ['groups.policies', policies],
      ],
    });
    await company.publish([...CASES.map(({ id }) => id), ...BOTH, ...QUIET, ...STILL].map(snapshot));
    await company.converge();
    reports.push(await company.reconcile('feed'));
    for (const group of await company.shown()) if (group.spokeId !== null) before.set(group.spokeId, group);

    // A 404 within createSettleSeconds (5 locally) of our own create is the platform's delay, not a deletion.
    await setTimeout(CREATE_SETTLE_MS);
    const flowing = flow(company);
    for (const { id, change, initiator, other } of CASES) {
      await CHANGES[change]?.make(company, before.get(id) as ShownGroup, { initiator, other });
    }
    for (const id of BOTH) {
      const { id: platformId, users } = before.get(id) as ShownGroup;
      await company.change(platformId, { name: 'Theirs', initiator: 'ROLE' });
      await company.change(platformId, { users: [...users, userOf(20)], initiator: 'SYSTEM' });
    }
    reports.push(await company.reconcile('feed'));
    await flowing;
    await company.converge();
    reports.push(await company.reconcile('feed'));
    await company.converge();
    drift = await company.drift();
    for (const group of await company.shown()) shownById.set(group.id, group);
  }, 120_000);
  afterAll(() => company.stop());

  /** Groups under `report` are left alone: the directory's next word would end what is reported. */
  async function flow({ publish }: Company): Promise<void> {
    const busy = [...QUIET, ...CASES.filter(({ policy }) => policy === 'restore').map(({ id }) => id)];
    for (let n = 4; n < 9; n += 1) await publish(busy.map((id) => joins(id, n)));
  }

  it('is about fifty changes', () => {
    expect(CASES.length + 2 * BOTH.length).toBeGreaterThanOrEqual(50);
  });

  it.each(CASES)('$change by $initiator under $policy has its kind, its name and its end', (one) => {
    const { kind } = CHANGES[one.change] as Change;
    const records = drift.filter(({ group }) => group === one.id);
    const settledBy = kind === 'duplicate_spoke_id' ? 'report' : one.policy;
    const expected = { kind, initiator: one.initiator, settledBy, settledAtMs: expect.any(Number) };
    expect(records.filter((record) => record.kind === kind)).toMatchObject([expected]);
    expect(records.filter(({ initiator }) => initiator !== one.initiator)).toEqual([]);
    expect(records.flatMap(({ eventIds }) => eventIds).length).toBeGreaterThan(0);
  });

  it.each(BOTH)('%s names each of two hands for what it did', (id) => {
    const named = drift.filter(({ group }) => group === id).map(({ kind, initiator }) => [kind, initiator]);
    expect(named.sort()).toEqual([
      ['members_added', 'SYSTEM'],
      ['name', 'ROLE'],
    ]);
  });

  it('records nothing of groups that nobody else touched', () => {
    expect(drift.filter(({ group }) => group.startsWith('quiet-'))).toEqual([]);
  });

  it('puts right what is to be restored', () => {
    const ids = [...CASES.filter(({ policy }) => policy === 'restore').map(({ id }) => id), ...QUIET];
    const users = [0, 1, 2, 3, 4, 5, 6, 7, 8].map(userOf);
    for (const id of ids) {
      const ours = [...shownById.values()].filter((group) => group.spokeId === id && !isOther(group));
      expect(ours).toMatchObject([{ name: `Group ${id}` }]);
      expect([...(ours[0]?.users ?? [])].sort(), id).toEqual(users);
    }
  });

  it.each(CASES.filter(({ policy }) => policy !== 'restore'))(
    'leaves what was $change under $policy',
    (one) => {
      const { id = '', users = [] } = before.get(one.id) ?? {};
      const now = shownById.get(id);
      switch (one.change) {
        case 'renamed':
          return expect(now?.name).toBe('Theirs');
        case 'joined':
          return expect(now?.users).toEqual([...users, userOf(20)]);
        case 'left':
          return expect(now?.users).toEqual(users.slice(1));
        case 'relabelled':
          return expect(now?.spokeId).toBe('theirs');
        case 'unlabelled':
          return expect(now?.spokeId).toBeNull();
        case 'copied':
          return expect(now).toEqual(before.get(one.id));
        default:
          return expect(now).toBeUndefined();
      }
    },
  );

  it('shows in the reports, each record once', () => {
    const kinds = (report: Record<string, unknown>) =>
      Object.values(report['drift'] as Record<string, number>);
    const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0);
    expect(sum(reports.flatMap(kinds))).toBe(drift.length);
    expect(reports[0]).toMatchObject({ drift: {}, restored: 0, reported: 0, adopted: 0 });
    expect(Object.keys(reports[2] ?? {}).sort()).toEqual(
      ['connection', 'eventsRead', 'groupsTouched', 'echoes', 'drift', 'restored', 'reported', 'adopted']
        .concat(['orphans', 'missing', 'reenqueued', 'cursor', 'durationMs'])
        .sort(),
    );
  });

  it('counts every difference as a metric of its kind, and writes one line per run', () => {
    const lines = company.lines().map((line): Record<string, unknown> => JSON.parse(line));
    const counted = lines.flatMap((line) => ('DriftFound' in line ? [line['DriftFound'] as number] : []));
    expect(counted.reduce((a, b) => a + b, 0)).toBe(drift.length);
    const runs = lines.filter(({ message, report }) => message === 'ran' && has(report, 'eventsRead'));
    expect(runs).toHaveLength(3);
    expect(lines.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

const isOther = ({ id }: ShownGroup): boolean => id.startsWith('other-');
const has = (report: unknown, name: string): boolean =>
  typeof report === 'object' && report !== null && name in report;
