import { expect, it } from 'vitest';
import { InvalidRequestError } from '../../../shared/platform/errors.ts';
import { rig } from '../support/platform-client.ts';

const CANDIDATE = { name: 'Cy Moss', email: 'cy@acme.test' };

it.each<[string, object]>([
  ['a bonus with three decimal digits', { signingBonus: 1000.255 }],
  ['a negative salary', { salaryPerUnit: -1 }],
  ['an invalid currency code', { currency: 'dollars' }],
  ['a start date with a time', { startDate: '2027-01-04T00:00:00Z' }],
  ['an unknown unit', { salaryUnit: 'YEAR' }],
  ['an attachment that is not a URL', { attachments: [{ file_name: 'cv', file_url: 'cv.pdf' }] }],
  ['an unknown field', { phone: '1' }],
])('candidates.push refuses %s', async (_, wrong) => {
  const { client, platform } = await rig(() => ({ body: CANDIDATE }));
  await expect(client.candidates.push({ ...CANDIDATE, ...wrong })).rejects.toBeInstanceOf(
    InvalidRequestError,
  );
  expect(platform.seen).toEqual([]);
});

it.each([0, 0.1, 1000.25, 19.99, 1e6])('candidates.push sends a bonus of %d', async (signingBonus) => {
  const { client, platform } = await rig(() => ({ body: CANDIDATE }));
  await client.candidates.push({ ...CANDIDATE, signingBonus });
  expect(JSON.parse(platform.seen[0]?.text ?? '')).toEqual({ ...CANDIDATE, signingBonus });
});
