/*
 * An operator acts with an AWS identity (the command line), or as a person who signed in to the console. Four eyes
 * compares people. The stage's setting `persons` tells which AWS identities belong to which person.
 */

/**
 * Patterns of actor ids, each with the person behind these ids. In a pattern, `*` and `{person}` match any characters
 * except `/` and `:`. In the id of the person, `{person}` is replaced by the text that it matched:
 * `{"arn:aws:sts::111122223333:assumed-role/Operator/{person}": "{person}"}`.
 */
export type Persons = Readonly<Record<string, string>>;

const CONSOLE = 'console:';
const PERSON = '{person}';

/** The id under which the audit and decisions name a person who signed in to the console. */
export const consoleActorId = (person: string): string => `${CONSOLE}${person}`;

/** Returns the person with this actor id, in lower case; undefined if the settings name none. */
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

/**
 * Returns the reason for a refusal if the person of one actor is not known; undefined if both are known or the ids are
 * equal.
 */
export function uncertainPerson(author: string, caller: string, persons: Persons): string | undefined {
  const unknown = [author, caller].find((id) => personOf(id, persons) === undefined);
  return author === caller || unknown === undefined
    ? undefined
    : `groupsync does not know which person ${unknown} is: name the person in the setting persons of the stage`;
}

/**
 * Returns whether two actors may be the same person. One person may have an AWS identity and sign in to the console, so
 * an AWS identity without a person may belong to any person of the console.
 *
 *     person of a | person of b | may be the same
 *     ------------|-------------|------------------------------------------
 *     known       | known       | if they are equal
 *     known       | unknown     | if one of the actors signed in to the console
 *     unknown     | unknown     | if the ids are equal
 */
export function mayBeSamePerson(a: string, b: string, persons: Persons): boolean {
  if (a === b) return true;
  const [first, second] = [personOf(a, persons), personOf(b, persons)];
  if (first !== undefined && second !== undefined) return first === second;
  if (first === undefined && second === undefined) return false;
  return a.startsWith(CONSOLE) || b.startsWith(CONSOLE);
}
