import { expect, it } from 'vitest';
import { consoleActorId, mayBeSamePerson, personOf } from '../../shared/contract/person.ts';

const SESSIONS = 'arn:aws:sts::111122223333:assumed-role';
const PERSONS = {
  [`${SESSIONS}/AWSReservedSSO_*/{person}`]: '{person}',
  'arn:aws:iam::111122223333:user/ann': 'ann@acme.test',
};

it.each([
  [consoleActorId('Ann@Acme.test'), 'ann@acme.test'],
  [`${SESSIONS}/AWSReservedSSO_Ops_0123/Ann@acme.test`, 'ann@acme.test'],
  [`${SESSIONS}/AWSReservedSSO_View_4567/ann@acme.test`, 'ann@acme.test'],
  ['arn:aws:iam::111122223333:user/ann', 'ann@acme.test'],
  [`${SESSIONS}/Deployer/ann@acme.test`, undefined],
  [`${SESSIONS}/x/AWSReservedSSO_Ops/ann@acme.test`, undefined],
  ['arn:aws:sts::999999999999:assumed-role/AWSReservedSSO_Ops/ann@acme.test', undefined],
  ['arn:aws:iam::111122223333:user/annabel', undefined],
  ['local:ann', undefined],
])('the actor %s is the person %s', (actor, person) => {
  expect(personOf(actor, PERSONS)).toBe(person);
});

it('the text that {person} matches is inserted unchanged', () => {
  expect(personOf('arn:$&', { 'arn:{person}': 'x{person}' })).toBe('x$&');
});

const console = consoleActorId('ann@acme.test');
const sso = `${SESSIONS}/AWSReservedSSO_Ops/ann@acme.test`;
const other = `${SESSIONS}/AWSReservedSSO_Ops/bob@acme.test`;
const unknown = `${SESSIONS}/Deployer/ci`;
it.each([
  ['one person in the console and at the command line', console, sso, true],
  ['one person with two AWS identities', sso, 'arn:aws:iam::111122223333:user/ann', true],
  ['two people in the console', console, consoleActorId('bob@acme.test'), false],
  ['two people, one in the console', console, other, false],
  ['a person of the console and an unknown AWS identity', console, unknown, true],
  ['a known and an unknown AWS identity', sso, unknown, false],
  ['two unknown AWS identities', unknown, `${SESSIONS}/Deployer/cd`, false],
  ['the same unknown AWS identity', unknown, unknown, true],
])('whether two actors may be the same person: %s', (_, a, b, isSame) => {
  expect(mayBeSamePerson(a, b, PERSONS)).toBe(isSame);
  expect(mayBeSamePerson(b, a, PERSONS)).toBe(isSame);
});
