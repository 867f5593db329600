import * as z from 'zod';
import { ActivityBatch } from '../schemas/activity.ts';
import { Candidate } from '../schemas/candidate.ts';
import { EmployeeRecord } from '../schemas/employee.ts';
import { Group } from '../schemas/group.ts';
import { LeaveRecord } from '../schemas/leave.ts';
import { appendActivity, putEmployee, putLeaveRequest, type State } from './state.ts';

/** One change of the state. It must not be applied twice, because this would repeat its activity events. */
export const Change = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('group'), company: z.string(), group: Group }),
  z.object({ kind: z.literal('groupDeleted'), company: z.string(), id: z.string() }),
  z.object({ kind: z.literal('activity'), company: z.string(), batch: ActivityBatch }),
  z.object({ kind: z.literal('employee'), company: z.string(), employee: EmployeeRecord }),
  z.object({ kind: z.literal('leave'), company: z.string(), request: LeaveRecord }),
  z.object({ kind: z.literal('candidate'), company: z.string(), candidate: Candidate }),
  z.object({ kind: z.literal('installed'), company: z.string(), app: z.string() }),
]);
export type Change = z.infer<typeof Change>;

/** Applies one change to `state`. @throws if the state does not have the company of the change */
export function applyChange(state: State, change: Change): void {
  const company = state.companies.get(change.company);
  if (company === undefined)
    throw new Error(`change ${change.kind} names the unknown company ${change.company}`);
  switch (change.kind) {
    case 'group':
      company.groups.set(change.group.id, change.group);
      break;
    case 'groupDeleted':
      company.groups.delete(change.id);
      break;
    case 'activity':
      appendActivity(company.activity, change.batch);
      break;
    case 'employee':
      putEmployee(company, change.employee);
      break;
    case 'leave':
      putLeaveRequest(company, change.request);
      break;
    case 'candidate':
      putCandidate(company.candidates, change.candidate);
      break;
    case 'installed':
      for (const credential of state.credentials.values()) {
        if (credential.company === change.company && credential.app === change.app)
          credential.installed = true;
      }
  }
}

/** A candidate with a known id replaces the earlier candidate. */
function putCandidate(candidates: Candidate[], candidate: Candidate): void {
  const known = candidate.candidateId ?? null;
  const index = known === null ? -1 : candidates.findIndex((other) => other.candidateId === known);
  if (index < 0) candidates.push(candidate);
  else candidates[index] = candidate;
}
