import * as z from 'zod';
import type { Member } from '../../domain/event.ts';
import { memberId } from '../../domain/ids.ts';
import { addressIn } from '../address.ts';
import { MAX_ATTRIBUTE_BYTES, MAX_ATTRIBUTES_PER_MEMBER, MAX_MEMBERS_PER_EVENT } from './bounds.ts';
import { expecting, Identifier, LONE_SURROGATE } from './fields.ts';

const anyValue = z.unknown().optional();
const attribute = (description: string) => anyValue.meta({ type: ['string', 'null'], description });

/**
 * A member in an event: `id`, and any attributes that match rules may use. Producers also send other data, so
 * attributes that are neither text nor integer are ignored.
 */
const LooseMember = z
  .looseObject(
    {
      id: Identifier.describe('Stable id of the member in the directory.'),
      email: attribute('E-mail address.'),
      userName: attribute('Login name.'),
      employeeNumber: attribute('Number of the employee.'),
      name: attribute('Full name, for display.'),
    },
    expecting('a member {id, …}'),
  )
  .transform((raw, context): Member => {
    const attributes = attributesOf(raw);
    const problem = boundProblem(attributes);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
    return { id: memberId(raw.id), attributes };
  })
  .meta({ description: 'A member of a group. A match rule may name any attribute of type string.' });

/** Refuses the name `__proto__`, which the parser would drop without an error. */
export const MemberField = z.preprocess((raw, context) => {
  if (typeof raw === 'object' && raw !== null && Object.hasOwn(raw, '__proto__')) {
    context.addIssue({ code: 'custom', message: 'expected no attribute named __proto__' });
  }
  return raw;
}, LooseMember);

export const MembersField = z
  .array(MemberField, expecting('a list of members'))
  .max(MAX_MEMBERS_PER_EVENT, { error: `expected at most ${MAX_MEMBERS_PER_EVENT} members` });

/** Returns a Map: in an object, an attribute name such as `constructor` would have a special meaning. */
function attributesOf(raw: object): Map<string, string> {
  const attributes = new Map<string, string>();
  for (const [name, value] of Object.entries(raw)) {
    // An attribute without a name cannot be stored.
    if (name === 'id' || name === '') continue;
    if (typeof value === 'string') attributes.set(name, value);
    // Producers often send an employee number as a JSON number. Only integers are accepted, because a fraction has more
    // than one text form.
    else if (Number.isSafeInteger(value)) attributes.set(name, String(value));
  }
  return attributes;
}

function boundProblem(attributes: ReadonlyMap<string, string>): string | undefined {
  if (attributes.size > MAX_ATTRIBUTES_PER_MEMBER) {
    return `expected at most ${MAX_ATTRIBUTES_PER_MEMBER} attributes, got ${attributes.size}`;
  }
  for (const [name, value] of attributes) {
    if (LONE_SURROGATE.test(`${name} ${value}`)) return 'expected attributes that are valid Unicode';
    const bytes = Buffer.byteLength(name) + Buffer.byteLength(value);
    if (bytes > MAX_ATTRIBUTE_BYTES) {
      return `expected attributes of at most ${MAX_ATTRIBUTE_BYTES} bytes with their name, got ${bytes}`;
    }
  }
  return undefined;
}

/** Returns the attributes for a login. If the login is an address, it is also the attribute `email`. */
export function attributesOfLogin(login: string): Readonly<Record<string, string>> {
  const email = addressIn(login);
  return email === undefined ? { userName: login } : { userName: login, email };
}
