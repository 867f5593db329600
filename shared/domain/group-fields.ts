import { foldSpokeId } from './spoke-id.ts';

interface FieldDefinition {
  readonly change: string;
  readonly drift: string;
  /** The reason that plans show for a change by groupsync. */
  readonly reason: string;
  readonly label: string;
  /** The error code for a value that the platform refuses. */
  readonly refusal: string;
  /** Returns the normal form of a value. A value with an equal normal form is not written again. */
  readonly form: (value: string) => string;
  /** Whether events set the value. The group's item then has a register, whose value ends with a deletion. */
  readonly isInEvents: boolean;
}

/**
 * The fields of a platform group that groupsync writes, apart from its users. Add a new field at the end of this list.
 * CONTRIBUTING.md has the further steps.
 */
export const GROUP_FIELDS = {
  name: {
    change: 'rename',
    drift: 'name',
    reason: 'the directory gives this name',
    label: 'the name',
    refusal: 'name_refused',
    form: (value) => value,
    isInEvents: true,
  },
  spokeId: {
    change: 'set_spoke_id',
    drift: 'spoke_id',
    reason: 'spokeId is the directory id of the group',
    label: 'the external id',
    refusal: 'spoke_id_refused',
    form: foldSpokeId,
    isInEvents: false,
  },
} as const satisfies Readonly<Record<string, FieldDefinition>>;

export type GroupField = keyof typeof GROUP_FIELDS;
export type FieldChange = (typeof GROUP_FIELDS)[GroupField]['change'];

export const FIELD_NAMES = Object.keys(GROUP_FIELDS) as readonly GroupField[];

export type EventField = {
  [Field in GroupField]: (typeof GROUP_FIELDS)[Field]['isInEvents'] extends true ? Field : never;
}[GroupField];
const isInEvents = (field: GroupField): field is EventField => GROUP_FIELDS[field].isInEvents;
export const EVENT_FIELDS = FIELD_NAMES.filter(isInEvents);

export type GivenFields = Readonly<Partial<Record<EventField, string>>>;

export const eachField = <Value>(of: (field: GroupField) => Value): Readonly<Record<GroupField, Value>> =>
  Object.fromEntries(FIELD_NAMES.map((field) => [field, of(field)])) as Record<GroupField, Value>;

type OtherField = Exclude<GroupField, 'name' | 'spokeId'>;

/**
 * The values of the fields. Every group has a name. Any other field is null or absent if the directory gives no value
 * or the platform shows no value. Some platforms never show the value of certain fields.
 */
export interface WrittenFields extends Readonly<Partial<Record<OtherField, string | null | undefined>>> {
  readonly name: string;
  readonly spokeId: string | null;
}

type Value = string | null | undefined;

export const NO_FIELDS: WrittenFields = { name: '', spokeId: null };

export const fieldsFrom = (of: (field: GroupField) => Value): WrittenFields => {
  const values = FIELD_NAMES.map((field) => [field, of(field)] as const);
  return { ...NO_FIELDS, ...Object.fromEntries(values.filter(([, value]) => value != null)) };
};

export const fieldsOf = (group: WrittenFields): WrittenFields => fieldsFrom((field) => group[field]);

export const isSameValue = (field: GroupField, one: Value, other: Value): boolean =>
  one == null || other == null
    ? (one ?? null) === (other ?? null)
    : formOf(field, one) === formOf(field, other);

export const formOf = (field: GroupField, value: string): string => GROUP_FIELDS[field].form(value);
