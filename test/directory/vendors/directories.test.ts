import { Agent } from 'undici';
import { expect, it } from 'vitest';
import { ConnectionSettings } from '../../../shared/contract/settings.ts';
import { createDirectories } from '../../../shared/directory/vendors/directories.ts';
import { connectionName } from '../../../shared/domain/ids.ts';
import { SecretError } from '../../../shared/sync/ports/secrets.ts';
import { ADMIN } from '../../directory-simulator/fixture.ts';
import { openGoogle } from './google/reader.ts';

const name = connectionName('acme');
const connectionTo = (directory: unknown) => ({
  name,
  company: 'c',
  observing: false,
  settings: ConnectionSettings.parse({ baseUrl: 'https://platform.test', directory }),
});
const directoriesWith = (read: () => Promise<unknown>, publicOnly = false) =>
  createDirectories(
    { read },
    {
      dispatcher: new Agent(),
      clock: Date.now,
      random: () => 0.5,
      sleep: async () => {},
      webIdentity: async () => 'none',
      publicOnly,
    },
  );

it.each([
  ['the setting directory is null', null, async () => ({}), 'expected the setting directory, got null'],
  [
    'the secret is not a key file',
    { kind: 'google', administrator: ADMIN },
    async () => ({ type: 'service_account', private_key: 'secret' }),
    'expected the key file of a service account with type, client_email, private_key_id and private_key',
  ],
  [
    'the secret is missing',
    { kind: 'google', administrator: ADMIN },
    () => Promise.reject(new SecretError('the secret x cannot be read')),
    'the secret x cannot be read',
  ],
])('opening a directory is denied if %s', async (_, directory, read, message) => {
  await expect(directoriesWith(read).open(connectionTo(directory))).rejects.toMatchObject({
    kind: 'denied',
    message: expect.stringContaining(message),
  });
});

it('a deployed function refuses the address of a directory on its own machine or in a private network', async () => {
  const { key } = await openGoogle();
  const deployed = directoriesWith(async () => key, true);
  for (const baseUrl of ['https://169.254.169.254', 'https://10.1.2.3', 'http://127.0.0.1:1']) {
    const connection = connectionTo({ kind: 'google', administrator: ADMIN, baseUrl });
    await expect(deployed.open(connection)).rejects.toMatchObject({
      kind: 'denied',
      message: expect.stringContaining('expected a public address'),
    });
    expect(await deployed.examine(connection)).toMatchObject([
      { step: 'credential', failure: { kind: 'denied' } },
    ]);
  }
});
