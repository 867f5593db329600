import { expect, it } from 'vitest';
import { texts } from '../../console/page/texts/settings.ts';
import { settingFields } from '../../console/server/setting-fields.ts';
import { settingKeys } from '../../shared/contract/change-setting.ts';

const fields = new Map(settingFields().map((field) => [field.key, field]));

it('the form, the limits and the default of a field come from the schema of the settings', () => {
  expect(fields.get('mode')).toEqual({
    key: 'mode',
    form: { kind: 'choice', values: ['authoritative', 'additive', 'report'] },
    isNullable: false,
    default: 'authoritative',
  });
  expect(fields.get('guard.maxRemovedShare')?.form).toEqual({
    kind: 'number',
    least: 0,
    most: 1,
    isWhole: false,
  });
  expect(fields.get('includeStates')?.form).toMatchObject({
    kind: 'list',
    values: ['INIT', 'HIRED', 'ACCEPTED', 'ACTIVE', 'TERMINATED'],
  });
  expect(fields.get('sources.expectEvery.scim')).toMatchObject({
    form: { kind: 'number' },
    isNullable: true,
    default: null,
  });
  expect(fields.get('fourEyes')?.form).toEqual({ kind: 'switch' });
  expect(fields.get('guard')).toMatchObject({ form: { kind: 'group' }, isNullable: true });
  const forms = ['match', 'groups.policies', 'nameTemplate', 'baseUrl', 'directory'].map(
    (key) => fields.get(key)?.form.kind,
  );
  expect(forms).toEqual(['list', 'json', 'text', 'text', 'json']);
});

it('every setting has a field, and a section, a title and a description in the console', () => {
  const parents = new Set(settingKeys().map((key) => key.slice(0, key.lastIndexOf('.'))));
  const leaves = settingKeys().filter((key) => !parents.has(key));
  expect([...fields.keys()].filter((key) => key !== 'guard').sort()).toEqual(leaves.sort());
  expect(Object.keys(texts).sort()).toEqual([...fields.keys()].sort());
  for (const { key, form } of fields.values())
    if (form.kind === 'choice') expect(Object.keys(texts[key]?.choices ?? {}), key).toEqual(form.values);
});
