import type { Check, Inspection, MemberIds } from '../../contract/answers/connect.ts';
import { fieldName } from '../../contract/match-rule.ts';
import { type ConnectionSettings, matchRules } from '../../contract/settings.ts';
import { type MemberIdEvidence, memberIdEvidence, memberIdFieldOf } from '../../plan/member-id.ts';
import type { ToolPorts } from '../../sync/ports/bundles.ts';
import { type Applicant, PlatformFailure } from '../../sync/ports/platform.ts';
import { fault, messageOf, passed } from '../doctor/check.ts';
import { keptFor } from './connect.ts';
import { type InspectInput, planAdoption, previewMatch, SAMPLE, type SampledEmployee } from './preview.ts';

export async function inspectCredential(input: InspectInput, ports: ToolPorts): Promise<Inspection> {
  const checks: Check[] = [];
  const owner = await ports.connections.companyOf(input.name);
  const company = await checkCompany(input, owner, checks);
  if (company === undefined)
    return { company, checks, usable: false, preview: null, adoption: null, memberIds: null };
  await attempt(checks, {
    name: 'installed',
    run: () => input.applicant.markInstalled(),
    done: () => 'the app is marked as installed',
    fix: 'ask the support of the platform whether the app may be installed for this company; groups are synced in any case',
  });
  const listed = await attempt(checks, {
    name: 'groups',
    run: () => input.applicant.groups(),
    done: (groups) => `groups may be read: ${groups.length} on the platform`,
    fix: 'use the token of an OAuth application with the groups permission; a customer API key cannot write groups',
  });
  const scopes = listed === undefined ? [] : await checkWriteScopes(input.name, input.applicant);
  checks.push(...scopes);
  const sample = await attempt(checks, {
    name: 'employees',
    run: () => sampleEmployees(input),
    done: (employees) => `employees may be read: ${employees.length} checked`,
    fix: 'let the credential read employees',
  });
  const memberIds = listed && sample ? findMemberIds(listed, sample) : null;
  const settings = proposedSettings(input, memberIds);
  if (sample !== undefined) checks.push(...checkFields(settings, sample));
  if (memberIds !== null) checks.push(checkMemberIds(memberIds, settings));
  return {
    company,
    checks,
    usable: listed !== undefined && sample !== undefined && scopes.every(({ ok }) => ok),
    memberIds,
    preview: sample === undefined ? null : await previewMatch(input, sample, ports),
    adoption: listed === undefined ? null : await planAdoption({ ...input, company }, listed, ports),
  };
}

export type InspectedInput = Pick<InspectInput, 'name' | 'settings' | 'isNew'>;

/**
 * For a new connection, `memberIdField` is the field whose values the existing groups contain. For an existing
 * connection, the setting stays as it is. Only an operator changes it.
 */
export const proposedSettings = ({ settings, isNew }: InspectedInput, memberIds: MemberIds | null) =>
  isNew && memberIds !== null && memberIds.field !== null
    ? { ...settings, memberIdField: memberIds.field }
    : settings;

async function checkCompany(
  { name, settings, applicant }: InspectInput,
  owner: string | undefined,
  checks: Check[],
): Promise<string | undefined> {
  const me = await attempt(checks, {
    name: 'credential',
    run: () => applicant.me(),
    done: ({ company }) => `${settings.baseUrl} accepts the credential, for the company ${company}`,
    fix: 'check the base URL, and that the token is complete, valid and of this platform',
  });
  if (me === undefined || owner === undefined || owner === me.company) return me?.company;
  checks.push(
    fault(
      'company',
      `${keptFor(name, owner)}; this credential is of the company ${me.company}`,
      'give the other company a connection of its own, under another name',
    ),
  );
  return undefined;
}

interface Attempt<Result> {
  readonly name: string;
  readonly run: () => Promise<Result>;
  readonly done: (result: Result) => string;
  readonly fix: string;
}

async function attempt<Result>(checks: Check[], { name, run, done, fix }: Attempt<Result>) {
  try {
    const result = await run();
    checks.push(passed(name, done(result)));
    return result;
  } catch (error) {
    checks.push(fault(name, messageOf(error), fix));
    return undefined;
  }
}

async function sampleEmployees({ settings, applicant }: InspectInput): Promise<readonly SampledEmployee[]> {
  const sample: SampledEmployee[] = [];
  const fields = [...new Set([...neededFields(settings), 'id', 'userId'])];
  for await (const page of applicant.employees(fields, settings.includeStates)) {
    sample.push(...page);
    if (sample.length >= SAMPLE) break;
  }
  return sample;
}

export function neededFields(settings: ConnectionSettings): readonly string[] {
  const matched = matchRules(settings).map(({ employeeField }) => fieldName(employeeField));
  return [...new Set([...matched, settings.memberIdField])];
}

/**
 * Checks the fields that match rules need. If a field is absent for all employees, the credential may not read it. If a
 * field is null for all employees, the company does not use it.
 */
export function checkFields(settings: ConnectionSettings, sample: readonly SampledEmployee[]) {
  if (sample.length === 0) {
    return [
      fault('employee fields', 'no employee is visible to the credential', 'provision employees to the app'),
    ];
  }
  return neededFields(settings).map((field) => {
    const shown = sample.filter((employee) => employee.has(field)).length;
    const filled = sample.filter((employee) => (employee.get(field) ?? '') !== '').length;
    const name = `field ${field}`;
    if (shown === 0) {
      const fix = `enable the scope that shows ${field} for the app, or change the setting match or memberIdField`;
      return fault(name, `no employee shows ${field}: the credential lacks the scope for it`, fix);
    }
    return passed(name, `${filled} of ${sample.length} employees have one`);
  });
}

type Listed = Awaited<ReturnType<Applicant['groups']>>;

function findMemberIds(listed: Listed, sample: readonly SampledEmployee[]): MemberIds {
  const valuesOf = (field: string) => new Set(sample.flatMap((employee) => employee.get(field) ?? []));
  const evidence = memberIdEvidence(
    listed.flatMap(({ users }) => users),
    { ids: valuesOf('id'), userIds: valuesOf('userId') },
  );
  return { field: memberIdFieldOf(evidence) ?? null, ...evidence };
}

function checkMemberIds(found: MemberIds, { memberIdField }: ConnectionSettings): Check {
  const name = 'memberIdField';
  if (found.field === null) {
    const fix = 'the setting memberIdField must name the id that groups hold: userId or id';
    return passed(
      name,
      `${memberIdField}; ${evidenceText(found)}, so the groups do not show which id they hold; ${fix}`,
    );
  }
  if (found.field === memberIdField) return passed(name, `${memberIdField}: ${evidenceText(found)}`);
  const detail = `the setting is ${memberIdField}, but the groups hold ${found.field}: ${evidenceText(found)}`;
  return fault(name, detail, `plan --with shows what this changes; then set memberIdField=${found.field}`);
}

const evidenceText = ({ users, userId, id }: MemberIdEvidence): string =>
  `of ${users} ids in groups, ${userId} are the userId of a checked employee and ${id} are the id`;

export type WriteScope = 'groups' | 'members';

export const SCOPE_REFUSALS: Readonly<Record<WriteScope, readonly [sentence: string, fix: string]>> = {
  groups: [
    'the credential may not create or change groups',
    'grant the app the write scope for groups, then use its new token',
  ],
  members: [
    'the credential may rename groups but may not set their members, so no person would get or lose access',
    'grant the app the write scope for group members, then use its new token',
  ],
};

const CHECK_NAMES = { groups: 'write groups', members: 'write group members' } as const;

const tryIt = (name: string) => `to test this with a new group: groupsync probe --connection ${name}`;

/**
 * Tests both write scopes without a write, by a PATCH of a group that does not exist. If a scope is missing, a platform
 * that checks scopes first answers 403. Some platforms answer 403 for every unknown id. So a 403 proves a missing scope
 * only in two cases: the two scopes get different answers, or a GET of the same id gets another answer. In all other
 * cases only `probe` can test the scopes, because it creates a group for the test.
 */
export async function checkWriteScopes(connection: string, applicant: Applicant): Promise<readonly Check[]> {
  const groups = await answerOf(() => applicant.refusesWrite('groups'));
  const members = await answerOf(() => applicant.refusesWrite('members'));
  const both = [groups, members];
  const needsProof = both.includes(true) && !both.includes(false);
  const hides = needsProof && (await answerOf(() => applicant.hidesGroups()));
  return [checkScope('groups', connection, groups, hides), checkScope('members', connection, members, hides)];
}

type Answer = boolean | PlatformFailure;

const answerOf = (ask: () => Promise<boolean>): Promise<Answer> =>
  ask().catch((error: unknown) => {
    if (error instanceof PlatformFailure) return error;
    throw error;
  });

function checkScope(scope: WriteScope, connection: string, refuses: Answer, hides: Answer): Check {
  const name = CHECK_NAMES[scope];
  const hint = tryIt(connection);
  if (refuses === false)
    return passed(name, `a write to a group that does not exist is not refused; ${hint}`);
  if (refuses instanceof PlatformFailure) return passed(name, `not known: ${messageOf(refuses)}; ${hint}`);
  if (hides instanceof PlatformFailure) return passed(name, `not known: ${messageOf(hides)}; ${hint}`);
  if (hides) {
    return passed(name, `not known: the platform answers 403 for every group that does not exist; ${hint}`);
  }
  const [sentence, fix] = SCOPE_REFUSALS[scope];
  return fault(name, sentence, fix);
}
