import { addressForm } from './address.ts';

/** Employee fields that can identify a person: the string fields of Employee in the specification. */
export const MATCHABLE_EMPLOYEE_FIELDS = [
  'id',
  'userId',
  'workEmail',
  'personalEmail',
  'employeeNumber',
  'spokeId',
  'name',
] as const;
type MatchableEmployeeField = (typeof MATCHABLE_EMPLOYEE_FIELDS)[number];

export type EmployeeField =
  | { readonly kind: 'field'; readonly name: MatchableEmployeeField }
  | { readonly kind: 'customField'; readonly title: string };

/** A match rule: the member's attribute must equal the employee's field. */
export interface MatchRule {
  /** The name of the member's attribute. `id` means the id of the member. */
  readonly memberAttribute: string;
  readonly employeeField: EmployeeField;
}

const CUSTOM_FIELD_PREFIX = 'customFields.';

/**
 * Reads `memberAttribute=employeeField`, such as `email=workEmail` or `oktaId=customFields.Okta ID`. Everything after
 * the first `=` is the field, so the title of a custom field may contain spaces, dots and a further `=`.
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

/** Returns the name of an employee field, as in match rules and in the keys of the people index. */
export const fieldName = (field: EmployeeField): string =>
  field.kind === 'field' ? field.name : `${CUSTOM_FIELD_PREFIX}${field.title}`;

/** The attribute with further addresses, separated by white space. A rule tries them in this order. */
export const OTHER_EMAILS = 'otherEmails';

/** Returns the normal forms of a member's values for a rule, without empty values. The first value that matches counts. */
export function soughtValues(
  { memberAttribute, employeeField }: MatchRule,
  { member, attributes }: RuleInput,
): readonly string[] {
  const value = memberAttribute === 'id' ? member : attributes?.get(memberAttribute)?.value;
  if (value === undefined) return [];
  const values = memberAttribute === OTHER_EMAILS ? value.split(/\s+/) : [value];
  return values.map((one) => matchForm(fieldName(employeeField), one)).filter((one) => one !== '');
}

interface RuleInput {
  readonly member: string;
  readonly attributes: ReadonlyMap<string, { readonly value: string }> | undefined;
}

/** Returns the form in which a rule compares values: `addressForm` for an address field, otherwise the trimmed text. */
export function matchForm(field: string, value: string): string {
  return field === 'workEmail' || field === 'personalEmail' ? addressForm(value) : value.trim();
}
