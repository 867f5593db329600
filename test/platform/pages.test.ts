import { expect, it } from 'vitest';
import { collect, rejection, rig } from './support/platform-client.ts';
import type { Answer, Seen } from './support/scripted-platform.ts';

const PEOPLE = Array.from({ length: 250 }, (_, at) => ({
  id: `r${at}`,
  personalEmail: null,
  roleState: 'ACTIVE',
}));
const IDS = PEOPLE.map(({ id }) => id);

/** Serves a list by limit and offset, as the specification defines. */
const serve = (request: Seen): Answer => {
  const offset = Number(request.query['offset']);
  return { body: PEOPLE.slice(offset, offset + Number(request.query['limit'])) };
};
const asked = (seen: readonly Seen[]) => seen.map(({ query }) => `${query['limit']}@${query['offset']}`);

it('list reads pages of 100 items until an empty page, and pages begins at the given offset and size', async () => {
  const { client, platform } = await rig(serve);
  const people = await collect(client.employees.list());
  expect(people.map(({ id }) => id)).toEqual(IDS);
  expect(asked(platform.seen)).toEqual(['100@0', '100@100', '100@200', '100@250']);
  const pages = await collect(client.employees.pages({ limit: 60, offset: 100 }));
  expect(pages.map((page) => page.length)).toEqual([60, 60, 30]);
  expect(pages[0]?.[0]?.id).toBe('r100');
});

it('pagesPassingOver reads four pages at once after a full first page, and returns them in order', async () => {
  const waiting: (() => void)[] = [];
  const { client, platform } = await rig(async (request) => {
    const offset = Number(request.query['offset']);
    if (offset > 0 && offset <= 200) {
      const released = new Promise<void>((resolve) => waiting.push(resolve));
      // The later pages are answered first.
      if (waiting.length === 4) for (const release of waiting.splice(0).reverse()) release();
      await released;
    }
    return serve(request);
  });
  const pages = await collect(client.employees.pagesPassingOver({ limit: 25 }));
  expect(pages.flatMap((page) => (page instanceof Error ? [] : page.map(({ id }) => id)))).toEqual(IDS);
  expect(asked(platform.seen).slice(0, 5)).toEqual(['25@0', '25@25', '25@50', '25@75', '25@100']);
});

it('pagesPassingOver reads pages one by one if the first page is short', async () => {
  const { client, platform } = await rig((request) => ({
    body: PEOPLE.slice(Number(request.query['offset'])).slice(0, 40),
  }));
  const pages = await collect(client.employees.pagesPassingOver());
  expect(pages.map((page) => (page instanceof Error ? page.message : page.length))).toEqual([
    ...Array(6).fill(40),
    10,
  ]);
  expect(asked(platform.seen)).toEqual(
    ['0', '40', '80', '120', '160', '200', '240', '250'].map((at) => `100@${at}`),
  );
});

it('list does not request a page that the caller does not consume', async () => {
  const { client, platform } = await rig(serve);
  for await (const person of client.employees.list()) if (person.id === 'r50') break;
  expect(platform.seen).toHaveLength(1);
});

it.each([0, 101, 1.5, -1])('list refuses the page size %d without a request', async (limit) => {
  const { client, platform } = await rig(serve);
  await expect(collect(client.employees.list({ limit }))).rejects.toMatchObject({
    name: 'InvalidRequestError',
  });
  expect(platform.seen).toEqual([]);
});

it('list reads a page with the answer 504 in smaller pages, which grow to less than the failed size', async () => {
  const { client, platform, time } = await rig((request) =>
    Number(request.query['limit']) > 30 ? { status: 504 } : serve(request),
  );
  expect((await collect(client.employees.list())).map(({ id }) => id)).toEqual(IDS);
  expect(asked(platform.seen).slice(0, 6)).toEqual(['100@0', '50@0', '25@0', '49@25', '24@25', '48@49']);
  expect(time.waits).toEqual([]);
});

it('if an endpoint ignores the offset, list returns each item of a short page once, and fails after a full page', async () => {
  const { client, platform } = await rig(() => ({ body: PEOPLE.slice(0, 3) }));
  expect(await collect(client.employees.list())).toHaveLength(3);
  expect(platform.seen).toHaveLength(2);
  const full = await rig(() => ({ body: PEOPLE.slice(0, 100) }));
  const error = await rejection(collect(full.client.employees.list()));
  expect(error).toMatchObject({
    name: 'UnexpectedBodyError',
    message: expect.stringContaining('offset 100'),
  });
});

it('an item without a guaranteed field causes an error that names the item and the field', async () => {
  const { client } = await rig(() => ({ body: [PEOPLE[0], { id: 'r1', roleState: 'ACTIVE' }] }));
  const error = await rejection(collect(client.employees.list()));
  expect(error).toMatchObject({ field: '[1].personalEmail', pathTemplate: '/platform/api/employees' });
});

it('the list that includes former employees sends its filters under the names of the API', async () => {
  const { client, platform } = await rig(() => ({ body: [] }));
  await collect(client.employees.listAll({ ein: 12345, sendAllRoles: false, limit: 5 }));
  expect(platform.seen[0]?.query).toEqual({
    limit: '5',
    offset: '0',
    EIN: '12345',
    send_all_roles: 'false',
  });
});
