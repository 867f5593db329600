import { expect, test } from 'vitest';
import { startSimulator } from './fixture.ts';

const BODY = {
  name: 'Kim Kaya',
  email: 'kim@mail.test',
  jobTitle: 'Engineer',
  phoneNumber: '+1 555 0101',
  candidateId: 'ats-1',
  startDate: '2027-01-04',
  salaryUnit: 'PAY_PERIOD',
  salaryPerUnit: 4321.5,
  signingBonus: 1000.25,
  currency: 'USD',
  equityShares: 10,
  department: 'd1',
  employmentType: 'SALARIED_FT',
  workLocation: 'w1',
  attachments: [{ file_name: 'cv.pdf', file_url: 'https://files.test/cv.pdf' }],
};
const push = 'POST /ats_candidates/push_candidate';

test('a second candidate with the same candidateId replaces the first', async () => {
  const { call, simulator } = startSimulator();
  await call(push, { body: BODY });
  await call(push, { body: { ...BODY, jobTitle: 'Lead' } });
  const candidates = simulator.world().companies[0]?.candidates;
  expect(candidates?.map((one) => one.jobTitle)).toEqual(['Lead']);
});

test.each([
  { name: '' },
  { email: 'no-address' },
  { startDate: 'soon' },
  { salaryUnit: 'YEAR' },
  { salaryPerUnit: '4321.5' },
  { signingBonus: 1.005 },
  { currency: 'usd' },
  { department: 'Engineering' },
  { workLocation: 'HQ' },
  { employmentType: 'FULL_TIME' },
  { attachments: [{ file_name: 'cv.pdf' }] },
])('a candidate with the fields %j is refused', async (fields) => {
  const { call } = startSimulator();
  const refused = await call(push, { body: { ...BODY, ...fields } });
  expect(refused.status).toBe(400);
  expect(refused.json.error.message).toContain(`body.${Object.keys(fields)[0]}`);
});
