import { expect, it } from 'vitest';
import { nextPage } from '../../../../shared/directory/vendors/okta/api.ts';
import { groupId } from '../../../../shared/domain/ids.ts';
import { allOf } from '../google/reader.ts';
import { next, ORG_URL, openScripted, self } from './scripted.ts';

const PATH = '/api/v1/groups/00g1/users';
const USER = { id: '00u1', status: 'ACTIVE', profile: { login: 'a@b.example', email: 'a@b.example' } };
const membersOf = (answers: Parameters<typeof openScripted>[0]) => {
  const { directory, paths } = openScripted(answers);
  return { read: allOf(directory.membersOf(groupId('00g1'), 'ignore')), paths };
};

it('a page with the link self and without the link next is the last page', () => {
  expect(nextPage('list', [self], `${ORG_URL}${PATH}`)).toBeUndefined();
});

it.each([
  ['in separate headers', [self, next(`${PATH}?after=1%2C2&limit=200`)]],
  ['in one header', [`${self}, ${next(`${PATH}?after=1%2C2&limit=200`)}`]],
  [
    'with other parameters and without quotation marks',
    [self, `<${ORG_URL}${PATH}?after=1%2C2&limit=200>; title="x"; rel=next`],
  ],
])('the links of a page are found %s', (_, headers) => {
  expect(nextPage('list', headers, `${ORG_URL}${PATH}?limit=200`)).toBe(`${PATH}?after=1%2C2&limit=200`);
});

it.each([
  ['no links', []],
  ['only links of other types', [`<${ORG_URL}/x>; rel="prev"`]],
  ['a next link to another host', [self, `<https://evil.example${PATH}?after=2>; rel="next"`]],
  ['a next link without encryption', [self, `<http://acme.okta.example${PATH}?after=2>; rel="next"`]],
  ['a next link to another list', [self, next('/api/v1/users?after=2')]],
  ['a next link that is not an address', [self, '<next>; rel="next"']],
  ['two next links', [self, next(`${PATH}?after=2`), next(`${PATH}?after=3`)]],
])('a page with %s gives an error and does not count as the last page', async (_, link) => {
  const { read, paths } = membersOf([{ body: [USER], headers: { link } }]);
  const failure = await read.catch((error: unknown) => error);
  expect(failure).toMatchObject({ kind: 'invalid' });
  expect(String(failure)).not.toMatch(/evil|@/);
  expect(paths).toHaveLength(1);
});

it('an empty list of groups does not prove that a group is gone', async () => {
  const times = {
    lastUpdated: '2026-11-20T10:00:00.000Z',
    lastMembershipUpdated: '2026-11-20T10:00:00.000Z',
  };
  const { directory } = openScripted([
    { headers: { link: self } },
    { body: { id: '00g1', profile: { name: 'Sales' }, ...times } },
  ]);
  expect(await directory.group('00g1')).toMatchObject({ name: 'Sales', userCount: undefined });
});
