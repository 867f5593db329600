/*
 * An operator uses commands with an AWS identity, or signs in to the console as a person. Four eyes compares people. So
 * the setting `persons` of the stage maps AWS identities to people.
 */

/**
 * Maps patterns of actor ids to the ids of people. In a pattern, `*` and `{person}` match any characters except `/` and
 * `:`. In the person's id, the text that `{person}` matched replaces `{person}`:
 * `{"arn:aws:sts::111122223333:assumed-role/Operator/{person}": "{person}"}`.
 */
export type Persons = Readonly<Record<string, string>>;

const CONSOLE = 'console:';
const PERSON = '{person}';

/** The id under which the audit and decisions name a person who signed in to the console. */
export const consoleActorId = (person: string): string => `${CONSOLE}${person}`;

export const isOfConsole = (actorId: string): boolean => actorId.startsWith(CONSOLE);

/** Returns the person of an actor id in lower case; undefined if it is no console id and matches no pattern. */
export function personOf(actorId: string, persons: Persons): string | undefined {
  if (actorId.startsWith(CONSOLE)) return actorId.slice(CONSOLE.length).toLowerCase();
  for (const [pattern, person] of Object.entries(persons)) {
    const match = expressionOf(pattern).exec(actorId);
    if (match !== null) return person.replaceAll(PERSON, () => match.groups?.['person'] ?? '').toLowerCase();
  }
  return undefined;
}

function expressionOf(pattern: string): RegExp {
  const [before = '', ...after] = pattern
    .split(PERSON)
    .map((part) => part.split('*').map(escaped).join('[^/:]*'));
  const rest = after.length === 0 ? '' : `(?<person>[^/:]+)${after.join('[^/:]+')}`;
  return new RegExp(`^${before}${rest}$`);
}

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&');

/** Returns the refusal of an approval if the person of an actor is unknown and the ids differ. */
export function uncertainPerson(author: string, caller: string, persons: Persons): string | undefined {
  const unknown = [author, caller].find((id) => personOf(id, persons) === undefined);
  return author === caller || unknown === undefined
    ? undefined
    : `groupsync does not know which person ${unknown} is: name the person in the setting persons of the stage`;
}

/**
 * Whether two actors may be the same person. A person may have an AWS identity and also sign in to the console. So an
 * AWS identity with an unknown person may belong to any person of the console.
 *
 *     person of a | person of b | may be the same
 *     ------------|-------------|------------------------------------------
 *     known       | known       | if they are equal
 *     known       | unknown     | if one of the actors signed in to the console
 *     unknown     | unknown     | if the ids are equal, but for upper and lower case
 */
export function mayBeSamePerson(a: string, b: string, persons: Persons): boolean {
  if (a.toLowerCase() === b.toLowerCase()) return true;
  const [first, second] = [personOf(a, persons), personOf(b, persons)];
  if (first !== undefined && second !== undefined) return first === second;
  if (first === undefined && second === undefined) return false;
  return a.startsWith(CONSOLE) || b.startsWith(CONSOLE);
}
