import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { shiftToNow } from '../../local/demo/shift.ts';
import { parseWorld } from '../../local/platform/state/world.ts';
import { parseLines, readDirectory } from '../support/reading.ts';

const file = (name: string) => readFileSync(new URL(`../../examples/${name}`, import.meta.url), 'utf8');
const jsonl = file('company.events.jsonl');
const events = parseLines(jsonl);
const world = parseWorld(JSON.parse(file('company.world.json')));
const employees = world.companies[0]?.employees ?? [];
const { groups, emails } = readDirectory(events);
const lastMs = Date.parse(events.at(-1)?.time ?? '');

describe('example company', () => {
  it('the example company has about 40 groups, 400 people and half a year of events', () => {
    expect(groups.size).toBe(40);
    expect(employees.length).toBeGreaterThanOrEqual(400);
    expect(events.length).toBeGreaterThanOrEqual(1_500);
    expect(events.length).toBeLessThanOrEqual(2_200);
    const days = (lastMs - Date.parse(events[0]?.time ?? '')) / 86_400_000;
    expect(days).toBeGreaterThan(170);
    expect(new Set(events.map(({ type }) => type)).size).toBe(7);
    expect(events.some(({ data }) => (data.part?.count ?? 0) > 1)).toBe(true);
  });

  it('after the last event, every group has a name, and the address of every member belongs to an active person', () => {
    const people = new Map(employees.map((employee) => [employee.workEmail, employee]));
    expect(people.size).toBe(employees.length);
    for (const { name, members } of groups.values()) {
      expect(name).toBeTruthy();
      for (const member of members) {
        const person = people.get(emails.get(member));
        expect(person).toMatchObject({ roleState: 'ACTIVE', userId: expect.any(String) });
      }
    }
  });
});

describe('removals of the example company', () => {
  const histories = membershipHistories();

  it('no group loses more than 60 users or 40 % of its users between any two times', () => {
    for (const history of histories.values()) {
      for (const [index, before] of history.entries()) {
        for (const after of history.slice(index + 1)) {
          const lost = lostBetween(before, after);
          expect(lost).toBeLessThanOrEqual(60);
          expect(lost).toBeLessThanOrEqual(0.4 * before.size);
        }
      }
    }
  });

  it('the example company has fewer than 300 removals', () => {
    const inHistory = [...histories.values()].flatMap((history) =>
      history.map((after, index) => lostBetween(history[index - 1] ?? after, after)),
    );
    const byDeletion = events.map(({ type, data }, index) =>
      type === 'directory.group.deleted'
        ? (readDirectory(events.slice(0, index)).groups.get(data.group?.id ?? '')?.members.size ?? 0)
        : 0,
    );
    const removals = [...inHistory, ...byDeletion].reduce((sum, lost) => sum + lost, 0);
    expect(removals).toBeGreaterThan(100);
    expect(removals).toBeLessThan(300);
  });

  function lostBetween(before: ReadonlySet<string>, after: ReadonlySet<string>): number {
    return [...before].filter((member) => !after.has(member)).length;
  }

  /** Returns, for each group, its members after each event that changed them, while the group exists. */
  function membershipHistories(): Map<string, ReadonlySet<string>[]> {
    const found = new Map<string, ReadonlySet<string>[]>();
    for (let end = 1; end <= events.length; end += 1) {
      const { type } = events[end - 1] ?? {};
      if (type === 'directory.user.upserted') continue;
      for (const [id, { members }] of readDirectory(events.slice(0, end)).groups) {
        const history = found.get(id) ?? [];
        const before = history.at(-1);
        const isSame = before?.size === members.size && [...members].every((member) => before.has(member));
        if (!isSame) found.set(id, [...history, members]);
      }
    }
    return found;
  }
});

describe('shiftToNow', () => {
  it('the newest event of the example is moved to now, and the times between events stay the same', () => {
    const shifted = shiftToNow(
      [{ time: '2026-01-01T00:00:00+01:00' }, { time: '2026-01-02T00:00:00.123456Z' }],
      5_000,
    );
    expect(shifted.map(({ time }) => time)).toEqual([
      '1969-12-30T23:00:04.877Z',
      '1970-01-01T00:00:05.000456000Z',
    ]);
  });
});
