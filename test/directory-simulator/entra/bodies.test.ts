import { describe, expect, it } from 'vitest';
import { DAY_MS, EVENTUAL, NOW_MS, startEntra } from './fixture.ts';

const METADATA = 'https://graph.microsoft.com/v1.0/$metadata#';

describe('bodies of Microsoft Graph in the documented form', () => {
  it('a group has all fields of the example of "Get group"', async () => {
    const { json } = await startEntra().get('groups/g-team');
    expect(json).toEqual({
      '@odata.context': `${METADATA}groups/$entity`,
      id: 'g-team',
      deletedDateTime: null,
      classification: null,
      createdDateTime: '2020-01-01T00:00:00Z',
      description: null,
      displayName: 'Team',
      expirationDateTime: null,
      groupTypes: ['Unified'],
      isAssignableToRole: null,
      mail: 'team@contoso.example',
      mailEnabled: true,
      mailNickname: 'team',
      membershipRule: null,
      membershipRuleProcessingState: null,
      onPremisesDomainName: null,
      onPremisesLastSyncDateTime: null,
      onPremisesNetBiosName: null,
      onPremisesSamAccountName: null,
      onPremisesSecurityIdentifier: null,
      onPremisesSyncEnabled: null,
      preferredDataLocation: null,
      preferredLanguage: null,
      proxyAddresses: ['SMTP:team@contoso.example'],
      renewedDateTime: '2020-01-01T00:00:00Z',
      resourceBehaviorOptions: [],
      resourceProvisioningOptions: [],
      securityEnabled: false,
      securityIdentifier: 'S-1-12-1-0-0-0-0',
      theme: null,
      visibility: 'Private',
      onPremisesProvisioningErrors: [],
    });
  });

  it('a group with $select has the selected properties and its id', async () => {
    const { json } = await startEntra().get('groups/g-sales?$select=displayName,securityEnabled');
    expect(json).toEqual({
      '@odata.context': `${METADATA}groups(displayName,securityEnabled)/$entity`,
      id: 'g-sales',
      displayName: 'Sales',
      securityEnabled: true,
    });
  });

  it('a user has the fields that Graph returns by default', async () => {
    const { json } = await startEntra().get('users/u-liz');
    expect(json).toEqual({
      '@odata.context': `${METADATA}users/$entity`,
      businessPhones: [],
      displayName: 'Liz Ng',
      givenName: 'Liz',
      jobTitle: null,
      mail: 'liz@contoso.example',
      mobilePhone: null,
      officeLocation: null,
      preferredLanguage: null,
      surname: 'Ng',
      userPrincipalName: 'liz@contoso.example',
      id: 'u-liz',
    });
  });

  it('a guest has a principal name that differs from the address', async () => {
    const select =
      'id,mail,userPrincipalName,userType,accountEnabled,otherMails,externalUserState,creationType';
    const { json } = await startEntra().get(`users/u-gus?$select=${select}`);
    expect(json).toEqual({
      '@odata.context': `${METADATA}users(${select})/$entity`,
      id: 'u-gus',
      mail: 'gus@partner.example',
      userPrincipalName: 'gus_partner.example#EXT#@contoso.example',
      userType: 'Guest',
      accountEnabled: true,
      otherMails: ['gus@partner.example'],
      externalUserState: 'Accepted',
      creationType: 'Invitation',
    });
  });

  it('a user can be disabled and can have several addresses', async () => {
    const entra = startEntra();
    expect((await entra.get('users/u-sue?$select=accountEnabled')).json.accountEnabled).toBe(false);
    expect((await entra.get('users/u-ann?$select=proxyAddresses')).json.proxyAddresses).toEqual([
      'SMTP:ann@contoso.example',
      'smtp:a@contoso.example',
    ]);
  });

  it('members in a list with a cast have the form of the example of "List group members"', async () => {
    const path = 'groups/g-emea/members/microsoft.graph.user?$count=true&$select=displayName,id';
    expect((await startEntra().get(path, EVENTUAL)).json).toEqual({
      '@odata.context': `${METADATA}users(displayName,id)`,
      '@odata.count': 1,
      value: [{ displayName: 'Ann', id: 'u-ann' }],
    });
  });

  it('members of different kinds have their types in @odata.type', async () => {
    const { json } = await startEntra().get('groups/g-emea/members');
    expect(json).toEqual({
      '@odata.context': `${METADATA}directoryObjects`,
      value: [
        {
          '@odata.type': '#microsoft.graph.user',
          businessPhones: [],
          displayName: 'Ann',
          givenName: 'Ann',
          jobTitle: null,
          mail: 'ann@contoso.example',
          mobilePhone: null,
          officeLocation: null,
          preferredLanguage: null,
          surname: null,
          userPrincipalName: 'ann@contoso.example',
          id: 'u-ann',
        },
      ],
    });
  });

  it('changes of groups have the form of the example of "Get incremental changes for groups"', async () => {
    const { json } = await startEntra().get(
      "groups/delta?$select=displayName,description,members&$filter=id eq 'g-emea'",
    );
    expect(json).toEqual({
      '@odata.context': `${METADATA}groups(displayName,description,members)`,
      '@odata.deltaLink': expect.stringContaining('/v1.0/groups/delta?$deltatoken='),
      value: [
        {
          displayName: 'EMEA',
          id: 'g-emea',
          'members@delta': [{ '@odata.type': '#microsoft.graph.user', id: 'u-ann' }],
        },
      ],
    });
  });

  it('a deleted user has a deletion time', async () => {
    const path = 'directory/deletedItems/microsoft.graph.user?$select=id,displayName,deletedDateTime';
    expect((await startEntra().get(path)).json.value).toEqual([
      {
        id: 'u-del',
        displayName: 'del@contoso.example',
        deletedDateTime: new Date(NOW_MS - DAY_MS).toISOString().replace('.000', ''),
      },
    ]);
  });

  it('an error has a code, a message and an inner error', async () => {
    expect((await startEntra().get('groups/absent')).json).toEqual({
      error: {
        code: 'Request_ResourceNotFound',
        message: expect.stringContaining("Resource 'absent' does not exist"),
        innerError: {
          date: expect.any(String),
          'request-id': expect.any(String),
          'client-request-id': expect.any(String),
        },
      },
    });
  });

  it('an answer has undocumented fields if the settings require them', async () => {
    const entra = startEntra({ settings: { unknownFields: true } });
    const answers = await Promise.all(Array.from({ length: 5 }, () => entra.get('users')));
    expect(answers.some(({ text }) => text.includes('"preview'))).toBe(true);
  });
});
