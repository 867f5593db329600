import { endpoint } from '../endpoint.ts';
import { badRequest } from '../errors.ts';
import { Candidate } from '../schemas/candidate.ts';

const push = endpoint({
  method: 'POST',
  path: '/platform/api/ats_candidates/push_candidate',
  operationId: 'pushCandidate',
  area: 'Candidates',
  summary:
    'Pushes a candidate into onboarding; a second push with the same candidateId replaces the candidate',
  oauthOnly: true,
  body: Candidate,
  response: Candidate,
  handle: ({ body, company, simulation }) => {
    const { department, workLocation } = body;
    if (department != null && !company.departments.some((one) => one.id === department)) {
      throw badRequest('body.department: expected an id from the departments list');
    }
    if (workLocation != null && !company.workLocations.some((one) => one.id === workLocation)) {
      throw badRequest('body.workLocation: expected an id of one of the work locations');
    }
    const { salaryUnit = null, employmentType = null, ...rest } = body;
    const candidate = { ...rest, salaryUnit, employmentType };
    simulation.store.commit([{ kind: 'candidate', company: company.id, candidate }]);
    return candidate;
  },
});

export const candidateEndpoints = [push];
