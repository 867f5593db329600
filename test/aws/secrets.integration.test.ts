import { CreateSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { expect, it } from 'vitest';
import { createSecretsManager } from '../../local/emulators/secrets-manager.ts';
import {
  createDirectorySecrets,
  createSecrets,
  createVault,
  removeDirectoryKey,
} from '../../shared/aws/secrets.ts';
import { directorySecretName } from '../../shared/contract/names.ts';
import { connectionName } from '../../shared/domain/ids.ts';
import { startFront } from '../local/support/front.ts';

async function opened() {
  const client = new SecretsManagerClient(await startFront(createSecretsManager()));
  return { client, vault: createVault({ client, keyOf: async () => undefined }, 'groupsync') };
}
const name = connectionName('acme');
const Name = directorySecretName('groupsync', name);

it('if an earlier token is stored again, it becomes the current token', async () => {
  const { client, vault } = await opened();
  const current = async () => (await createSecrets(client, 'groupsync').read(name)).value;
  for (const token of ['first', 'second', 'first']) {
    await vault.store(name, token);
    expect(await current()).toEqual({ token });
  }
  await vault.remove(name);
  await vault.store(name, 'second');
  expect(await current()).toEqual({ token: 'second' });
});

it('the key of a directory is read as JSON, and removing the connection removes the key', async () => {
  const { client, vault } = await opened();
  const directories = createDirectorySecrets(client, 'groupsync');
  await expect(directories.read(name)).rejects.toThrow(`the secret ${Name} cannot be read`);
  await client.send(new CreateSecretCommand({ Name, SecretString: '{"type":"service_account"}' }));
  expect(await directories.read(name)).toEqual({ type: 'service_account' });
  await vault.store(name, 'token');
  expect(await vault.remove(name)).toBe(true);
  await expect(directories.read(name)).rejects.toThrow(`the secret ${Name} cannot be read`);
});

it('a connection can be removed after the key of its directory was removed', async () => {
  const { client, vault } = await opened();
  await client.send(new CreateSecretCommand({ Name, SecretString: '{}' }));
  await removeDirectoryKey(client, 'groupsync')(name);
  await vault.store(name, 'token');
  expect(await vault.remove(name)).toBe(true);
  expect(await vault.remove(name)).toBe(false);
});

it('a new secret is encrypted with the KMS key from the settings', async () => {
  const sent: object[] = [];
  const send = async ({ input }: { input: object }) => ({ VersionId: String(sent.push(input)) });
  const client = { send };
  const keyOf = async () => 'arn:aws:kms:eu-west-1:111122223333:key/1';
  await createVault({ client: client as never, keyOf }, 'groupsync').store(name, 'token');
  expect(sent).toMatchObject([{ KmsKeyId: 'arn:aws:kms:eu-west-1:111122223333:key/1' }]);
});
