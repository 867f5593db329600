/**
 * What of a platform group we write beside its users; CONTRIBUTING.md says where else a further one stands.
 * A null `spokeId`: the platform shows none. Either there is none, or the platform does not echo the field.
 */
export interface WrittenFields {
  readonly name: string;
  readonly spokeId: string | null;
}

export type GroupField = keyof WrittenFields;

/**
 * By field: the names of our change and of another client's change in plans and records, and the reason for our change.
 * Also the label and the error code for a value that the platform refuses.
 */
export const GROUP_FIELDS = {
  name: {
    change: 'rename',
    drift: 'name',
    reason: 'the directory gives this name',
    label: 'the name',
    refusal: 'name_refused',
  },
  spokeId: {
    change: 'set_spoke_id',
    drift: 'spoke_id',
    reason: 'spokeId is the directory id of the group',
    label: 'the external id',
    refusal: 'spoke_id_refused',
  },
} as const satisfies Readonly<
  Record<GroupField, Readonly<Record<'change' | 'drift' | 'reason' | 'label' | 'refusal', string>>>
>;

export const FIELD_NAMES = Object.keys(GROUP_FIELDS) as readonly GroupField[];

export const eachField = <Value>(of: (field: GroupField) => Value): Readonly<Record<GroupField, Value>> =>
  Object.fromEntries(FIELD_NAMES.map((field) => [field, of(field)])) as Record<GroupField, Value>;
