import fc from 'fast-check';
import { expect } from 'vitest';
import { readFeed } from '../../../local/platform/feed.ts';
import { stateFromWorld } from '../../../local/platform/state/from-world.ts';
import { appendActivity, type CompanyState } from '../../../local/platform/state/state.ts';
import { parseWorld } from '../../../local/platform/state/world.ts';
import { always } from '../../support/engine/runs.ts';
import { NOW_MS } from './fixture.ts';

type Step =
  | { readonly kind: 'write'; readonly members: number; readonly laterMs: number }
  | { readonly kind: 'read'; readonly limit: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  // Most writes happen in the same millisecond, in which a cursor that is a time would lose or repeat events.
  fc.record({
    kind: fc.constant('write' as const),
    members: fc.integer({ min: 0, max: 12 }),
    laterMs: fc.constantFrom(0, 0, 0, 1),
  }),
  fc.record({
    kind: fc.constant('read' as const),
    limit: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.constant(1000)),
  }),
);

always(
  'a reader sees every event once and in order despite writes between the pages',
  fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
    const company = emptyCompany();
    const seen: string[] = [];
    let atMs = NOW_MS;
    let next: string | undefined;
    const read = (limit: number) => {
      const page = readFeed(company, { next, limit, nowMs: atMs });
      expect(page.events.length).toBeLessThanOrEqual(limit);
      seen.push(...page.events.map((event) => event.id));
      next = page.next;
      return page.isEnd;
    };
    for (const [index, one] of steps.entries()) {
      if (one.kind === 'read') {
        read(one.limit);
      } else {
        atMs += one.laterMs;
        write(company, { atMs, group: `g${index}`, members: one.members });
      }
    }
    while (!read(7));
    expect(seen).toEqual(company.activity.entries.map((_, index) => `${company.activity.feed}-${index + 1}`));
  }),
  100,
);

function emptyCompany(): CompanyState {
  const world = parseWorld({ companies: [{ id: 'c', activity: { feed: 'f', batches: [] } }] });
  const [company] = stateFromWorld(world, () => 'id').companies.values();
  if (company === undefined) throw new Error('the world has a company');
  return company;
}

function write(
  company: CompanyState,
  { atMs, group, members }: { atMs: number; group: string; members: number },
) {
  appendActivity(company.activity, {
    atMs,
    group: { id: group, name: group },
    change: members === 0 ? 'changed' : 'members',
    removed: [],
    added: Array.from({ length: members }, (_, index) => `u${index}`),
    initiator: { type: 'SYSTEM', role: null, displayName: 'System' },
    spoke: 'app',
  });
}
