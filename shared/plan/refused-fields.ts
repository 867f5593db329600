import { FIELD_NAMES, GROUP_FIELDS, type GroupField } from '../domain/group-fields.ts';
import type { GroupError, GroupState, RefusedValue } from '../domain/group-state.ts';
import type { View } from '../domain/view.ts';
import type { DraftInput, WantedGroup } from './draft.ts';
import { fieldMatches } from './names.ts';

/** The platform may accept a refused value later, so groupsync tries the value again once a day. */
const AGAIN_MS = 86_400_000;

type Fields = Pick<WantedGroup, GroupField>;

/*
 * A refused name or external id never blocks a member change. After a write with a refused field:
 *
 *     the wanted value is        | members                 | the field
 *     ---------------------------|-------------------------|------------------------------------------
 *     the refused value          | written without it      | unchanged
 *     the refused one, next day  | written without it      | then tried alone, in a separate write
 *     another, or after `sync`   | written together with it; after a refusal again without it
 */

/** Returns the fields whose wanted value is the value that the platform refused. */
export const refusedOf = (wanted: Fields, { refusedFields = {} }: GroupState): readonly GroupField[] =>
  FIELD_NAMES.filter((field) => wanted[field] != null && refusedFields[field]?.value === wanted[field]);

/** Returns the first of these refused fields that is due for another try. */
export const dueField = (
  fields: readonly GroupField[],
  { refusedFields = {} }: GroupState,
  nowMs: number,
): GroupField | undefined => fields.find((field) => nowMs - (refusedFields[field]?.atMs ?? 0) >= AGAIN_MS);

/** Returns the fields for which the platform shows another value than the wanted value. */
export const differing = (
  fields: readonly GroupField[],
  wanted: Fields,
  current: View,
): readonly GroupField[] => fields.filter((field) => !fieldMatches(current, field, wanted[field]));

/** Returns the fields that a plan does not change to the wanted value, although no policy accepts the difference. */
export function leftDiffering({
  wanted,
  current,
  fixed = new Set(),
  acceptedDrift,
}: Pick<DraftInput, 'wanted' | 'current' | 'fixed' | 'acceptedDrift'>): readonly GroupField[] {
  if (wanted === undefined || current === undefined) return [];
  const left = [...fixed].filter((field) => acceptedDrift?.[field] !== true);
  return differing(left, wanted, current);
}

/** Returns the failure of a group whose members are as wanted, but whose name or external id is refused. */
export function fieldFailure(
  fields: readonly GroupField[],
  { refusedFields = {} }: GroupState,
): GroupError | undefined {
  const refusals = fields.flatMap((field): (RefusedValue & { readonly field: GroupField })[] => {
    const refused = refusedFields[field];
    return refused === undefined ? [] : [{ ...refused, field }];
  });
  const [first] = refusals;
  if (first === undefined) return undefined;
  const labels = refusals.map(({ field }) => GROUP_FIELDS[field].label).join(' and ');
  const answers = [...new Set(refusals.map(({ message }) => message))].join('; ');
  return {
    code: GROUP_FIELDS[first.field].refusal,
    message: `the platform refuses ${labels}; members are written without this change: ${answers}`,
    atMs: Math.max(...refusals.map(({ atMs }) => atMs)),
  };
}

const CODES: ReadonlySet<string> = new Set(FIELD_NAMES.map((field) => GROUP_FIELDS[field].refusal));

/** Whether the platform refused the members of the group, and not only a field. */
export const hasFailed = ({ failedAtMs, lastError }: GroupState): boolean =>
  failedAtMs !== undefined && !CODES.has(lastError?.code ?? '');
