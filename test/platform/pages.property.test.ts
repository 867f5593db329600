import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PlatformError, ServerError, TimeoutError } from '../../shared/platform/errors.ts';
import { readPages } from '../../shared/platform/pages.ts';
import { collect } from './support/platform-client.ts';

const endpoint = { method: 'GET', path: '/platform/api/employees' } as const;
const facts = { method: 'GET', pathTemplate: endpoint.path, sent: 'answered', status: 504 } as const;

it('readPages returns every item once, even if some pages are too slow or too short', async () => {
  const world = fc.record({
    items: fc.nat({ max: 250 }),
    limit: fc.integer({ min: 1, max: 100 }),
    inFlight: fc.nat({ max: 5 }),
    // One number per request. Below 0.4, a page of several items is too slow. From 0.4, the number is the returned
    // share of the page.
    fates: fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
  });
  await fc.assert(
    fc.asyncProperty(world, async ({ items, limit: first, inFlight, fates }) => {
      const all = Array.from({ length: items }, (_, at) => at);
      const fetchPage = async ({ limit, offset }: { limit: number; offset: number }) => {
        expect(limit).toBeGreaterThanOrEqual(1);
        expect(limit).toBeLessThanOrEqual(first);
        const fate: number = fates.next().value ?? 1;
        if (limit > 1 && fate < 0.2) throw new ServerError('slow', facts);
        if (limit > 1 && fate < 0.4) throw new TimeoutError('slow', { ...facts, sent: 'maybe' });
        return all.slice(offset, offset + Math.max(1, Math.ceil(limit * fate)));
      };
      const pages = await collect(readPages({ endpoint, limit: first, offset: 0, fetchPage, inFlight }));
      expect(pages.flat()).toEqual(all);
    }),
    { numRuns: 100 },
  );
});

it('readPages with passesOver skips exactly the failing items', async () => {
  const world = fc.record({
    items: fc.nat({ max: 250 }),
    limit: fc.integer({ min: 1, max: 100 }),
    // Failing items are never neighbours, because readPages skips further items after two failures in a row.
    faulty: fc.uniqueArray(
      fc.nat({ max: 125 }).map((half) => half * 2),
      { maxLength: 8 },
    ),
    most: fc.integer({ min: 1, max: 100 }),
    inFlight: fc.nat({ max: 5 }),
  });
  await fc.assert(
    fc.asyncProperty(world, async ({ items, limit: first, faulty, most, inFlight }) => {
      const all = Array.from({ length: items }, (_, at) => at);
      let requests = 0;
      const fetchPage = async ({ limit, offset }: { limit: number; offset: number }) => {
        requests += 1;
        const page = all.slice(offset, offset + Math.min(limit, most));
        if (page.some((item) => faulty.includes(item)))
          throw new ServerError('fails', { ...facts, status: 500 });
        return page;
      };
      const pages = await collect(
        readPages({ endpoint, limit: first, offset: 0, fetchPage, passesOver: true, inFlight }),
      );
      const came = pages.flatMap((page) => (page instanceof PlatformError ? [] : page));
      expect(came).toEqual(all.filter((item) => !faulty.includes(item)));
      const failures = pages.filter((page) => page instanceof ServerError);
      expect(failures).toHaveLength(all.filter((item) => faulty.includes(item)).length);
      expect(requests).toBeLessThan(items / Math.min(first, most) + 30 * (failures.length + 1) + 15);
    }),
    { numRuns: 100 },
  );
});

it('readPages throws an error if every item after some position fails', async () => {
  const fetchPage = async ({ limit, offset }: { limit: number; offset: number }) => {
    if (offset + limit > 150) throw new ServerError('fails', { ...facts, status: 500 });
    return Array.from({ length: limit }, (_, at) => offset + at);
  };
  const came: unknown[] = [];
  const reading = async () => {
    const options = { endpoint, limit: 100, offset: 0, fetchPage, passesOver: true, inFlight: 4 };
    for await (const page of readPages(options))
      came.push(...(page instanceof PlatformError ? [page.status] : page));
  };
  await expect(reading()).rejects.toBeInstanceOf(ServerError);
  expect(came).toEqual([...Array.from({ length: 150 }, (_, at) => at), ...Array(7).fill(500)]);
});
