import { addressForm } from './address.ts';

/** Employee fields that can identify a person (string fields of the specification's Employee). */
export const MATCHABLE_EMPLOYEE_FIELDS = [
  'id',
  'userId',
  'workEmail',
  'personalEmail',
  'employeeNumber',
  'spokeId',
  'name',
] as const;
export type MatchableEmployeeField = (typeof MATCHABLE_EMPLOYEE_FIELDS)[number];

/** The right side of a rule: a field of the employee, or one of its custom fields by its title. */
export type EmployeeField =
  | { readonly kind: 'field'; readonly name: MatchableEmployeeField }
  | { readonly kind: 'customField'; readonly title: string };

/** One way to recognise a person: the member's attribute equals the employee's field. */
export interface MatchRule {
  /** Name of the member's attribute. `id` means the id of the member. */
  readonly memberAttribute: string;
  readonly employeeField: EmployeeField;
}

const CUSTOM_FIELD_PREFIX = 'customFields.';

/**
 * Reads `memberAttribute=employeeField`, such as `email=workEmail` or `oktaId=customFields.Okta ID`. Everything after
 * the first `=` is the field, so the title of a custom field may contain spaces, dots and `=`.
 * @returns undefined if the text is no rule.
 */
export function parseMatchRule(text: string): MatchRule | undefined {
  const equals = text.indexOf('=');
  if (equals < 0) return undefined;
  const memberAttribute = text.slice(0, equals).trim();
  const employeeField = parseEmployeeField(text.slice(equals + 1).trim());
  if (memberAttribute === '' || employeeField === undefined) return undefined;
  return { memberAttribute, employeeField };
}

function parseEmployeeField(text: string): EmployeeField | undefined {
  if (text.startsWith(CUSTOM_FIELD_PREFIX)) {
    const title = text.slice(CUSTOM_FIELD_PREFIX.length);
    return title.trim() === '' ? undefined : { kind: 'customField', title };
  }
  const name = MATCHABLE_EMPLOYEE_FIELDS.find((field) => field === text);
  return name === undefined ? undefined : { kind: 'field', name };
}

/** Name of an employee field, as in rules and in the keys of the people index. */
export const fieldName = (field: EmployeeField): string =>
  field.kind === 'field' ? field.name : `${CUSTOM_FIELD_PREFIX}${field.title}`;

/** The member's attribute that contains further addresses, separated by white space. A rule tries them in order. */
export const OTHER_EMAILS = 'otherEmails';

/** Returns the values of a member that a rule looks for, in order, in the form that is compared. */
export function soughtValues(
  { memberAttribute, employeeField }: MatchRule,
  { member, attributes }: RuleInput,
): readonly string[] {
  const value = memberAttribute === 'id' ? member : attributes?.get(memberAttribute)?.value;
  if (value === undefined) return [];
  const values = memberAttribute === OTHER_EMAILS ? value.split(/\s+/).filter((one) => one !== '') : [value];
  return values.map((one) => matchForm(fieldName(employeeField), one));
}

interface RuleInput {
  readonly member: string;
  readonly attributes: ReadonlyMap<string, { readonly value: string }> | undefined;
}

/**
 * Returns the form in which a rule compares values: `addressForm` for an address field, else the text without
 * surrounding space.
 */
export function matchForm(field: string, value: string): string {
  return field === 'workEmail' || field === 'personalEmail' ? addressForm(value) : value.trim();
}
