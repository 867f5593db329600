import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PATIENCE_MS, runs } from '../../support/engine/runs.ts';
import { createWorld } from './support/server.ts';

it(
  'version and modification time change if and only if the resource changes, and no version is used twice',
  async () => {
    const value = fc.constantFrom('a', 'b');
    const path = fc.constantFrom('title', 'displayName', 'name.familyName', 'emails[type eq "work"].value');
    const operation = fc.oneof(
      fc.record({ op: fc.constantFrom('add', 'replace'), path, value }),
      fc.record({ op: fc.constant('remove'), path }),
      fc.record({ op: fc.constant('replace'), value: fc.record({ title: value, nickName: value }) }),
    );
    const request = fc.array(operation, { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(fc.array(request, { maxLength: 20 }), async (requests) => {
        const own = createWorld({ storeProfile: true });
        const caller = await own.client();
        let { meta, ...shown } = (await caller.post('/Users', { userName: 'bob' })).body;
        const seen = new Set([meta.version]);
        for (const operations of requests) {
          own.time.nowMs += 1;
          const answer = await caller.patch(`/Users/${shown.id}`, operations);
          expect(answer.status).toBe(200);
          const { meta: metaAfter, ...shownAfter } = answer.body;
          if (isDeepStrictEqual(shownAfter, shown)) expect(metaAfter).toEqual(meta);
          else {
            expect(seen).not.toContain(metaAfter.version);
            expect(metaAfter.lastModified).toBe(new Date(own.time.nowMs).toISOString());
          }
          seen.add(metaAfter.version);
          meta = metaAfter;
          shown = shownAfter;
        }
      }),
      runs(600),
    );
  },
  PATIENCE_MS,
);
