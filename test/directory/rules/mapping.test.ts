import { expect, it } from 'vitest';
import { mapGroups } from '../../../shared/directory/rules/mapping.ts';

const target = (id: string, name: string) => ({ id, name, address: `${id}@acme.test` });
const TARGETS = [target('01', 'Rowing'), target('02', 'Chess'), target('03', 'Sport'), target('04', 'Sport')];

const mapped = (...sources: readonly { group: string; name?: string; externalId?: string }[]) =>
  mapGroups(
    sources.map((one) => ({ name: undefined, ...one })),
    TARGETS,
  );

it.each([
  ['id', { group: '01', name: 'Another name' }, '01', 'id'],
  ['external id', { group: 'g1', name: 'Another name', externalId: '02' }, '02', 'externalId'],
  ['address as external id', { group: 'g1', externalId: '02@ACME.test' }, '02', 'externalId'],
  ['name', { group: 'g1', name: 'Chess' }, '02', 'name'],
  ['name in another form', { group: 'g1', name: ' CHESS' }, '02', 'name'],
])('mapGroups maps a group by its %s', (_, source, to, by) => {
  const { pairs, unmapped } = mapped(source);
  expect(pairs.map((pair) => [pair.to.id, pair.by])).toEqual([[to, by]]);
  expect(unmapped).toEqual([]);
});

it('mapGroups maps no group by a name that two groups of one source have', () => {
  expect(mapped({ group: 'g1', name: 'Sport' }).unmapped).toEqual([{ group: 'g1', reason: 'not_unique' }]);
  expect(mapped({ group: 'g1', name: 'Chess' }, { group: 'g2', name: 'chess' }).unmapped).toEqual([
    { group: 'g1', reason: 'not_unique' },
    { group: 'g2', reason: 'not_unique' },
  ]);
});

it('mapGroups maps each target group once, first by id, then by external id, then by name', () => {
  const { pairs, unmapped } = mapped(
    { group: 'g1', name: 'Rowing' },
    { group: 'g2', name: 'Other', externalId: '01' },
    { group: 'g3', name: 'Rowing', externalId: '01' },
  );
  expect(pairs.map(({ from, to }) => [from, to.id])).toEqual([['g2', '01']]);
  expect(unmapped.map(({ group }) => group)).toEqual(['g1', 'g3']);
});

it('mapGroups maps no group whose name and external id are missing', () => {
  expect(mapped({ group: 'g1' }, { group: 'g2', externalId: '' }).pairs).toEqual([]);
});
