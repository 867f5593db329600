import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { expect, it } from 'vitest';
import { createSecretsManager } from '../../local/emulators/secrets-manager.ts';
import { createSecrets, createVault } from '../../shared/aws/secrets.ts';
import { connectionName } from '../../shared/domain/ids.ts';
import { startFront } from '../local/support/front.ts';

it('a token that was replaced is the current one again once a person stores it again', async () => {
  const client = new SecretsManagerClient(await startFront(createSecretsManager()));
  const [vault, name] = [createVault(client, 'groupsync'), connectionName('default')];
  const current = async () => (await createSecrets(client, 'groupsync').read(name)).value;
  for (const token of ['first', 'second', 'first']) {
    await vault.store(name, token);
    expect(await current()).toEqual({ token });
  }
  await vault.remove(name);
  await vault.store(name, 'second');
  expect(await current()).toEqual({ token: 'second' });
});
