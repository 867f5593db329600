import type { Check, MemberIds } from '../../contract/answers/connect.ts';
import type { ConnectionSettings } from '../../contract/settings.ts';
import { type MemberIdEvidence, memberIdEvidence, memberIdFieldOf } from '../../plan/member-id.ts';
import type { Applicant } from '../../sync/ports/platform.ts';
import { fault, passed } from '../doctor/check.ts';
import type { SampledEmployee } from './preview.ts';

type Listed = Awaited<ReturnType<Applicant['groups']>>;

/** Finds out which employee id the platform's existing groups contain: `userId` or `id`. */
export function findMemberIds(listed: Listed, sample: readonly SampledEmployee[]): MemberIds {
  const valuesOf = (field: string) => new Set(sample.flatMap((employee) => employee.get(field) ?? []));
  const evidence = memberIdEvidence(
    listed.flatMap(({ users }) => users),
    { ids: valuesOf('id'), userIds: valuesOf('userId') },
  );
  return { field: memberIdFieldOf(evidence) ?? null, ...evidence };
}

/** Compares the setting `memberIdField` with the ids in the groups. */
export function checkMemberIds(found: MemberIds, { memberIdField }: ConnectionSettings): Check {
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
