import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ServerError, TimeoutError } from '../../shared/platform/errors.ts';
import { readPages } from '../../shared/platform/pages.ts';
import { collect } from './support/platform-client.ts';

const endpoint = { method: 'GET', path: '/platform/api/employees' } as const;
const facts = { method: 'GET', pathTemplate: endpoint.path, sent: 'answered', status: 504 } as const;

it('skips and repeats nothing, whatever is too slow and however short pages are', async () => {
  const world = fc.record({
    items: fc.nat({ max: 250 }),
    limit: fc.integer({ min: 1, max: 100 }),
    // One number per request: below 0.4 too slow (unless a single item was asked for), else the share of the page given.
    fates: fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
  });
  await fc.assert(
    fc.asyncProperty(world, async ({ items, limit: first, fates }) => {
      const all = Array.from({ length: items }, (_, at) => at);
      const fetchPage = async ({ limit, offset }: { limit: number; offset: number }) => {
        expect(limit).toBeGreaterThanOrEqual(1);
        expect(limit).toBeLessThanOrEqual(first);
        const fate: number = fates.next().value ?? 1;
        if (limit > 1 && fate < 0.2) throw new ServerError('slow', facts);
        if (limit > 1 && fate < 0.4) throw new TimeoutError('slow', { ...facts, sent: 'maybe' });
        return all.slice(offset, offset + Math.max(1, Math.ceil(limit * fate)));
      };
      const pages = await collect(readPages({ endpoint, limit: first, offset: 0, fetchPage }));
      expect(pages.flat()).toEqual(all);
    }),
    { numRuns: 100 },
  );
});
