import type { Persons } from '../shared/contract/person.ts';
import type { Random } from './random.ts';
import type { OperatorAction } from './simulation-run.ts';

const ROLE = 'arn:aws:sts::111122223333:assumed-role/Operator/';

/** The setting `persons` of the stage. It does not name the person of the AWS identity `cy`. */
export const PERSONS: Persons = { [`${ROLE}{person}`]: '{person}' };

/** The actor ids of people who do everything. In the console, they are administrators. */
export const OPERATORS: readonly string[] = [
  'console:ada',
  `${ROLE}ada`,
  'console:ben',
  `${ROLE}ben`,
  'arn:aws:iam::111122223333:user/cy',
];
/** The actor ids of people who send, set and create nothing. */
export const APPROVERS: readonly string[] = ['console:fay', `${ROLE}fay`, 'console:gus'];
const ALL: ReadonlySet<string> = new Set([...OPERATORS, ...APPROVERS]);

export const isPerson = (actorId: string): boolean => ALL.has(actorId);

/** Returns the person of an actor id: `ada` has two ids. */
export const personIn = (actorId: string): string => actorId.replace(/^.*[/:]/, '');

export const isAdministrator = (actorId: string): boolean => /^console:(?:ada|ben)$/.test(actorId);

/** Draws the person of an action. */
export const drawPerson = (random: Random, kind: OperatorAction['kind']): string =>
  random.pick(/^(?:approve|reject|confirm)/.test(kind) ? [...OPERATORS, ...APPROVERS] : OPERATORS);
