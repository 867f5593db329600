import { FIELD_NAMES, GROUP_FIELDS, type GroupField } from '../domain/group-fields.ts';
import type { GroupError, GroupState, RefusedValue } from '../domain/group-state.ts';
import type { View } from '../domain/view.ts';
import type { DraftInput, WantedGroup } from './draft.ts';
import { fieldMatches } from './names.ts';

/** groupsync tries a refused value again after this time, because the platform may then accept it. */
const AGAIN_MS = 86_400_000;

type Fields = Pick<WantedGroup, GroupField>;

/*
 * A refused name or external id never blocks a member change. After the platform refused a value of a field:
 *
 *     the wanted value of the field              | the next write
 *     -------------------------------------------|--------------------------------------------------------------
 *     the refused value                          | members without the field
 *     the refused value, a day after the refusal | members without the field; then a second write with the field
 *     a new value                                | members with the field; if refused, members without the field
 *
 * The command `groupsync sync` removes the record of the refusal, so the next write contains the value again.
 */

export const refusedOf = (wanted: Fields, { refusedFields = {} }: GroupState): readonly GroupField[] =>
  FIELD_NAMES.filter((field) => wanted[field] != null && refusedFields[field]?.value === wanted[field]);

/** Returns the first of these refused fields whose value groupsync must try again now. */
export const dueField = (fields: readonly GroupField[], { refusedFields = {} }: GroupState, nowMs: number) =>
  fields.find((field) => nowMs - (refusedFields[field]?.atMs ?? 0) >= AGAIN_MS);

const differing = (fields: readonly GroupField[], wanted: Fields, current: View) =>
  fields.filter((field) => !fieldMatches(current, field, wanted[field]));

/** Returns the fields that still differ from the wanted value after the plan. */
export function differingWithheld({
  wanted,
  current,
  withheld = new Set(),
}: Pick<DraftInput, 'wanted' | 'current' | 'withheld'>): readonly GroupField[] {
  if (wanted === undefined || current === undefined) return [];
  return differing([...withheld], wanted, current);
}

/** Returns the failure that reports the refused fields; undefined if the platform refused none of these fields. */
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

/** Whether the group has failed, and not only because of a refused field. */
export const hasFailed = ({ failedAtMs, lastError }: GroupState): boolean =>
  failedAtMs !== undefined && !CODES.has(lastError?.code ?? '');
