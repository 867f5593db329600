import type { Check, MemberIds } from '../../contract/answers.ts';
import type { ConnectionSettings } from '../../contract/settings.ts';
import { type MemberIdEvidence, memberIdEvidence, memberIdFieldOf } from '../../plan/member-id.ts';
import type { Applicant } from '../../sync/ports/platform.ts';
import { fault, well } from '../doctor/check.ts';
import type { SampledEmployee } from './preview.ts';

type Listed = Awaited<ReturnType<Applicant['groups']>>;

/** Which id of an employee the platform's groups hold, by the groups that are there. */
export function findMemberIds(listed: Listed, sample: readonly SampledEmployee[]): MemberIds {
  const valuesOf = (field: string) => new Set(sample.flatMap((employee) => employee.get(field) ?? []));
  const evidence = memberIdEvidence(
    listed.flatMap(({ users }) => users),
    { ids: valuesOf('id'), userIds: valuesOf('userId') },
  );
  return { field: memberIdFieldOf(evidence) ?? null, ...evidence };
}

/** Holds the setting against what the groups show. */
export function checkMemberIds(found: MemberIds, { memberIdField }: ConnectionSettings): Check {
  const name = 'memberIdField';
  if (found.field === null) {
    const fix = 'the setting memberIdField says whether groups hold userId or id';
    return well(name, `${memberIdField}; ${evidenceText(found)}, so the groups do not tell; ${fix}`);
  }
  if (found.field === memberIdField) return well(name, `${memberIdField}: ${evidenceText(found)}`);
  const detail = `the setting is ${memberIdField}, but the groups hold ${found.field}: ${evidenceText(found)}`;
  return fault(name, detail, `set it, and see first what it changes: memberIdField=${found.field}`);
}

const evidenceText = ({ users, userId, id }: MemberIdEvidence): string =>
  `of ${users} ids in groups ${userId} are the userId and ${id} the id of an employee looked at`;
