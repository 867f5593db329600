import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { shiftToNow } from '../../local/demo/shift.ts';
import { parseWorld } from '../../local/platform/state/world.ts';
import { parseLines, readDirectory } from '../support/reading.ts';

const file = (name: string) => readFileSync(new URL(`../../examples/${name}`, import.meta.url), 'utf8');
const jsonl = file('company.events.jsonl');
const events = parseLines(jsonl);
const world = parseWorld(JSON.parse(file('company.world.json')));
const employees = world.companies[0]?.employees ?? [];
const { groups, emails } = readDirectory(events);
it('the example company has about 40 groups, 400 people and half a year of events', () => {
  expect(groups.size).toBe(40);
  expect(employees.length).toBeGreaterThanOrEqual(400);
  expect(events.length).toBeGreaterThanOrEqual(1_500);
  expect(events.length).toBeLessThanOrEqual(2_200);
  const [firstMs, lastMs] = [events[0], events.at(-1)].map((event) => Date.parse(event?.time ?? ''));
  const days = ((lastMs ?? 0) - (firstMs ?? 0)) / 86_400_000;
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
