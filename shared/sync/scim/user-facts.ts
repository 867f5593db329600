import { ACTIVE_ATTRIBUTE } from '../../domain/active.ts';
import type { DirectoryChange } from '../../domain/event.ts';
import { memberId } from '../../domain/ids.ts';
import { FULL_USER } from '../../scim/schemas/user.ts';
import { elements, isObject, type ScimObject, type ScimValue } from '../../scim/value.ts';
import type { ScimResource } from '../ports/scim.ts';

/** Attributes that matching may use, as events name them. */
export const MATCHED_ATTRIBUTES = ['userName', 'email', 'externalId', 'employeeNumber'] as const;

const ENTERPRISE = FULL_USER[1].id;

/**
 * What a SCIM user is to desired state. All of it is said each time, so that it is a function of the resource alone;
 * an attribute that the user does not have is empty, which matches nobody. Only `active` without a value says nothing:
 * silence must not switch an account on again.
 */
export function userChange({ id, attributes }: ScimResource): DirectoryChange {
  const facts = new Map<string, string>([
    ['userName', text(attributes['userName'])],
    ['email', emailOf(attributes['emails'])],
    ['externalId', text(attributes['externalId'])],
    ['employeeNumber', text(extension(attributes)['employeeNumber'])],
  ]);
  const { active } = attributes;
  if (active !== undefined) facts.set(ACTIVE_ATTRIBUTE, active === false ? 'false' : 'true');
  return { kind: 'user.upserted', user: { id: memberId(id), attributes: facts } };
}

/** The deletion of a user, and of what was known of them. */
export function userEnd({ id }: ScimResource): readonly DirectoryChange[] {
  const user = memberId(id);
  const nothing = new Map(MATCHED_ATTRIBUTES.map((name): [string, string] => [name, '']));
  return [
    { kind: 'user.deleted', user },
    { kind: 'user.upserted', user: { id: user, attributes: nothing } },
  ];
}

const extension = (attributes: ScimObject): ScimObject => {
  const held = attributes[ENTERPRISE];
  return isObject(held) ? held : {};
};

const text = (value: ScimValue | undefined): string => (typeof value === 'string' ? value : '');

/** The primary address, else the one for work, else the first; an entry without an address is none. */
function emailOf(emails: ScimValue | undefined): string {
  const addresses = elements(emails)
    .filter(isObject)
    .filter(({ value }) => text(value) !== '');
  const chosen =
    addresses.find(({ primary }) => primary === true) ??
    addresses.find(({ type }) => typeof type === 'string' && type.toLowerCase() === 'work') ??
    addresses[0];
  return text(chosen?.['value']);
}
