import { expect, it } from 'vitest';
import { applySetting, InvalidSettingError, parseSettings } from '../../shared/contract/change-setting.ts';
import { matchRules } from '../../shared/contract/settings.ts';

const baseUrl = 'https://platform.test';
const defaults = parseSettings({ baseUrl });

const problemsOf = (act: () => unknown): readonly string[] => {
  try {
    act();
  } catch (error) {
    if (error instanceof InvalidSettingError) return error.problems;
    throw error;
  }
  return [];
};

it('the settings have their documented defaults', () => {
  expect(defaults).toEqual({
    baseUrl,
    memberIdField: 'userId',
    match: ['email=workEmail'],
    includeStates: ['ACTIVE'],
    people: { exclude: [] },
    mode: 'authoritative',
    onGroupDeleted: 'delete',
    fourEyes: false,
    auditReads: false,
    guard: {
      minSize: 5,
      maxRemovedShare: 0.5,
      maxRemovedCount: 100,
      perHourCount: 500,
      deletedGroups: 2,
      deletedGroupsShare: 0.05,
    },
    groups: { include: ['*'], exclude: [], policies: [] },
    nameTemplate: '{name}',
    activity: { startParam: 'startDate', endParam: 'endDate', sizeParam: 'limit', pageSize: 1000 },
    scim: { storeProfile: false, maxGroupNameLength: 256 },
    nested: 'ignore',
    concurrency: 8,
    timeoutMs: 10_000,
    directory: null,
    sources: { expectEvery: { events: null, scim: null, directory: null } },
  });
});

it('a guard with only some limits gets the defaults for all other limits', () => {
  expect(parseSettings({ baseUrl, guard: { minSize: 9 } }).guard).toEqual({
    ...defaults.guard,
    minSize: 9,
  });
});

it.each(['https://api.example.com/tenant/a', 'http://127.0.0.1:8080'])(
  'the base URL %s is accepted',
  (url) => {
    expect(parseSettings({ baseUrl: url }).baseUrl).toBe(url);
  },
);

it.each(['http://api.example.com', 'https://user:secret@api.example.com', '', 42, null])(
  'parseSettings refuses the base URL %s',
  (url) => {
    expect(problemsOf(() => parseSettings({ baseUrl: url }))).toHaveLength(1);
  },
);

it('the base URL loses its trailing slashes, so that paths can be appended', () => {
  expect(parseSettings({ baseUrl: 'https://api.example.com/x//' }).baseUrl).toBe('https://api.example.com/x');
});

it.each([
  ['memberIdField', 'email', 'memberIdField: expected "userId" or "id", got "email"'],
  ['match', [], 'match: expected a list of at least one match rule, got []'],
  [
    'includeStates',
    ['GONE'],
    'includeStates.0: expected "INIT" or "HIRED" or "ACCEPTED" or "ACTIVE" or "TERMINATED", got "GONE"',
  ],
  ['guard', { maxRemovedShare: 1.5 }, 'guard.maxRemovedShare: expected a number from 0 to 1, got 1.5'],
  ['guard', { minSize: '5' }, 'guard.minSize: expected a whole number from 0 to 1000000, got "5"'],
  ['guard', { minsize: 5 }, 'guard: unknown "minsize"'],
  ['guard', false, 'guard: expected an object of guard limits, or null for none, got false'],
  ['groups', { include: [''] }, 'groups.include.0: expected a glob of 1 to 512 characters, got ""'],
  [
    'groups',
    { policies: [{ match: 'x', mode: 'off' }] },
    'groups.policies.0.mode: expected "authoritative" or "additive" or "report", got "off"',
  ],
  [
    'groups',
    { policies: [{ match: 'x', mode: 'additive', drift: 'adopt' }] },
    'groups.policies.0: unknown "drift"',
  ],
  ['onGroupDeleted', 'empty', 'onGroupDeleted: expected "delete" or "release", got "empty"'],
  [
    'nameTemplate',
    'Okta {team}',
    'nameTemplate: expected a template with {name} or {id}, and no braces but {name}, {id} and {connection}, got "Okta {team}"',
  ],
  [
    'nameTemplate',
    'all of {connection}',
    'nameTemplate: expected a template with {name} or {id}, and no braces but {name}, {id} and {connection}, got "all of {connection}"',
  ],
  ['activity', { pageSize: 1001 }, 'activity.pageSize: expected a whole number from 1 to 1000, got 1001'],
  ['concurrency', 0, 'concurrency: expected a whole number from 1 to 64, got 0'],
  ['timeoutMs', Number.NaN, 'timeoutMs: expected a whole number from 100 to 60000, got null'],
])('the error for %s=%j names key, expected and received value', (key, value, problem) => {
  expect(problemsOf(() => parseSettings({ baseUrl, [key]: value }))).toEqual([problem]);
});

it('one error reports all invalid settings', () => {
  expect(problemsOf(() => parseSettings({ baseUrl, mode: 'x', concurrency: 'y', colour: 1 }))).toHaveLength(
    3,
  );
});

it.each([null, undefined, [], 'x', 7])('%j is refused as settings', (input) => {
  expect(problemsOf(() => parseSettings(input))).toHaveLength(1);
});

it('match rules may use employee fields, custom fields with spaces, and the member id', () => {
  const match = ['email=workEmail', 'oktaId=customFields.Okta ID', 'id=customFields.a=b.c'];
  expect(matchRules(parseSettings({ baseUrl, match }))).toEqual([
    { memberAttribute: 'email', employeeField: { kind: 'field', name: 'workEmail' } },
    { memberAttribute: 'oktaId', employeeField: { kind: 'customField', title: 'Okta ID' } },
    { memberAttribute: 'id', employeeField: { kind: 'customField', title: 'a=b.c' } },
  ]);
});

it.each(['email', '=workEmail', 'email=', 'email=workMail', 'email=customFields.', 'email=__proto__', 7])(
  'the match rule %j is refused',
  (rule) => {
    expect(problemsOf(() => parseSettings({ baseUrl, match: [rule] }))).toHaveLength(1);
  },
);

it('applySetting changes one setting and does not modify its argument', () => {
  const changed = applySetting(defaults, 'guard.minSize', 9);
  expect(changed).toEqual({ ...defaults, guard: { ...defaults.guard, minSize: 9 } });
  expect(defaults.guard?.minSize).toBe(5);
});

it('the guard is switched off by null, and switched on by a value for one of its limits', () => {
  const off = applySetting(defaults, 'guard', null);
  expect(off.guard).toBeNull();
  expect(applySetting(off, 'guard.perHourCount', 7).guard).toEqual({ ...defaults.guard, perHourCount: 7 });
});

it.each(['colour', 'guard.minsize', 'guard.', '', '__proto__', 'constructor', 'groups.include.0', 'match.0'])(
  'applySetting refuses the unknown key %j',
  (key) => {
    const [problem] = problemsOf(() => applySetting(defaults, key, 1));
    expect(problem).toMatch(/^unknown setting ".*"; (expected one of baseUrl, .*|is it [\w.]+\?)$/);
  },
);
