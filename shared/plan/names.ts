import type { GroupField, WrittenFields } from '../domain/group-fields.ts';
import type { ObservedGroup, View } from '../domain/view.ts';

/** White space and Unicode form apart: what a platform that only tidies names leaves of one. */
const tidyName = (name: string): string => name.normalize('NFC').trim().replace(/\s+/gu, ' ');

/** Case apart as well: names of one fold may be one name in two platforms' writing. */
export const foldName = (name: string): string => tidyName(name).toLowerCase();

/** Groups that have the name: exactly, or else, where none has, up to white space and Unicode form. */
export function namedLike<Group extends { readonly name: string }>(
  groups: readonly Group[],
  name: string,
): readonly Group[] {
  const exact = groups.filter((group) => group.name === name);
  return exact.length > 0 ? exact : groups.filter((group) => tidyName(group.name) === tidyName(name));
}

/** A view of ours under the name that the platform made of the one we sent, which is remembered beside it. */
export const renamedTo = (view: View, { name }: Pick<ObservedGroup, 'name'>): View =>
  view.name === name ? view : { ...view, name, alias: view.alias ?? view.name };

/** Whether a view has this value of a field: of the name, be it as shown or as sent. */
export const says = (
  view: Pick<View, GroupField | 'alias'>,
  field: GroupField,
  value: WrittenFields[GroupField],
): boolean => view[field] === value || (field === 'name' && view.alias === value);
