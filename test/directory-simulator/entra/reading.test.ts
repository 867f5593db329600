import { describe, expect, it } from 'vitest';
import { EVENTUAL, idsOf, readAll, startEntra } from './fixture.ts';

const SALES_USERS = 'groups/g-sales/members/microsoft.graph.user';

describe('lists of Microsoft Graph', () => {
  it.each([
    ["groups?$filter=displayName eq 'Sales'", ['g-sales']],
    ["groups?$filter=startswith(displayName, 'E')", ['g-emea', 'g-none']],
    ["groups?$filter=groupTypes/any(c:c eq 'Unified')", ['g-hidden', 'g-team']],
    ["groups?$filter=id in ('g-none', 'g-team')", ['g-none', 'g-team']],
    ['groups?$filter=mailEnabled eq true and securityEnabled eq false', ['g-hidden', 'g-team']],
    ["users?$filter=userType eq 'Guest'", ['u-gus']],
    ['users?$filter=accountEnabled eq false', ['u-sue']],
    ["users?$filter=mail eq 'ann@contoso.example' or id eq 'u-liz'", ['u-ann', 'u-liz']],
  ])('a list supports the filter %s', async (path, ids) => {
    expect(idsOf((await readAll(startEntra(), path)).items)).toEqual(ids);
  });
});

describe('members of a group', () => {
  it('only the first page has the count, and only if the request has the header ConsistencyLevel', async () => {
    const entra = startEntra();
    const first = await entra.get(`${SALES_USERS}?$count=true&$top=2`, EVENTUAL);
    expect(first.json['@odata.count']).toBe(3);
    expect((await entra.get(first.json['@odata.nextLink'], EVENTUAL)).json).not.toHaveProperty(
      '@odata.count',
    );
    expect((await entra.get(`${SALES_USERS}?$count=true`)).json).not.toHaveProperty('@odata.count');
  });

  it('a control makes the count wrong, absent, and correct again', async () => {
    const entra = startEntra();
    const count = async () => (await entra.get(`${SALES_USERS}?$count=true`, EVENTUAL)).json['@odata.count'];
    await entra.control('counts', { group: 'g-sales', count: 400 });
    expect(await count()).toBe(400);
    await entra.control('counts', { group: 'g-sales', count: null });
    expect(await count()).toBeUndefined();
    await entra.control('counts', { group: 'g-sales', count: 'right' });
    expect(await count()).toBe(3);
  });
});
