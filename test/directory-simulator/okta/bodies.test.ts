import { describe, expect, it } from 'vitest';
import { APP_GROUP, ERROR, LOG_EVENT, OKTA_GROUP, USER } from './documented.ts';
import { startOkta } from './fixture.ts';

/** Returns the paths of all fields and list items. */
function fieldsOf(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [path];
  const parts = Object.entries(value);
  if (parts.length === 0) return [path];
  return parts.flatMap(([name, part]) => fieldsOf(part, `${path}.${name}`)).toSorted();
}

describe('bodies of the simulated Okta org', () => {
  it.each([
    ['a group of Okta', 'groups/00gsales', OKTA_GROUP],
    ['a group of an app', 'groups/00gapp', APP_GROUP],
    ['a user', 'users/00uliz', USER],
    ['an error', 'users/missing@example.com', ERROR],
  ])('the object %s has the fields of the documented example', async (_, path, example) => {
    const { json } = await startOkta().get(path);
    expect(fieldsOf(json)).toEqual(fieldsOf(example));
  });

  it('the items of lists have the fields of the documented examples', async () => {
    const client = startOkta();
    const groups = (await client.get('groups')).json;
    const users = (await client.get('groups/00gsales/users')).json;
    expect(fieldsOf(groups.find(({ id }: { id: string }) => id === '00gsales'))).toEqual(
      fieldsOf(OKTA_GROUP),
    );
    for (const user of users) expect(fieldsOf(user)).toEqual(fieldsOf(USER));
  });

  it('an event of the log has the fields of the documented LogEvent object', async () => {
    const client = startOkta();
    await client.control('changes', { kind: 'addMember', group: '00gnone', member: '00uann' });
    const [event] = (await client.get('logs')).json;
    expect(fieldsOf(event)).toEqual(fieldsOf(LOG_EVENT));
    expect(event).toMatchObject({
      eventType: 'group.user_membership.add',
      legacyEventType: 'core.user_group_member.user_add',
      displayMessage: 'Add user to group membership',
    });
  });

  it('the profile of a user can have more fields', async () => {
    const client = startOkta();
    await client.control('changes', {
      kind: 'changeUser',
      user: '00uliz',
      vendorFields: { profile: { costCenter: 'CC-1' } },
    });
    expect((await client.get('users/00uliz')).json.profile).toMatchObject({ costCenter: 'CC-1' });
  });

  it('an error has the fields of Okta’s documented errors and names its cause', async () => {
    const client = startOkta();
    expect((await client.get('users/missing@example.com')).json).toMatchObject({
      errorCode: ERROR.errorCode,
      errorSummary: ERROR.errorSummary,
    });
    const { json } = await client.get('groups?limit=many');
    expect(json).toMatchObject({ errorSummary: 'Api validation failed: limit', errorLink: 'E0000001' });
    expect(json.errorCauses).toHaveLength(1);
  });
});
