import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import {
  CreateSecretCommand,
  DeleteSecretCommand,
  GetSecretValueCommand,
  ListSecretsCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { expect, it } from 'vitest';
import { createSecretsManager } from '../../../local/emulators/secrets-manager.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { startFront } from '../support/front.ts';

const NAME = 'groupsync/connections/default';
const versionOf = (text: string) => createHash('sha256').update(text).digest('hex');
const get = (client: SecretsManagerClient, more: { VersionId?: string; VersionStage?: string } = {}) =>
  client.send(new GetSecretValueCommand({ SecretId: NAME, ...more }));
const put = (client: SecretsManagerClient, text: string, token = versionOf(text)) =>
  client.send(new PutSecretValueCommand({ SecretId: NAME, SecretString: text, ClientRequestToken: token }));

const startOver = (file: string) =>
  startFront(createSecretsManager(file)).then((settings) => new SecretsManagerClient(settings));

it('the file keeps values, versions and their order for the next start, and only its owner can read it', async () => {
  const file = join(temporaryFolder(), 'secrets.json');
  const first = await startOver(file);
  await first.send(
    new CreateSecretCommand({ Name: NAME, SecretString: 'one', ClientRequestToken: versionOf('one') }),
  );
  await put(first, 'two');
  await first.send(new CreateSecretCommand({ Name: 'left', SecretString: 'x' }));
  await first.send(new DeleteSecretCommand({ SecretId: 'left' }));
  expect(statSync(file).mode & 0o777).toBe(0o600);

  const second = await startOver(file);
  expect(await get(second)).toMatchObject({ SecretString: 'two', VersionId: versionOf('two') });
  expect(await get(second, { VersionStage: 'AWSPREVIOUS' })).toMatchObject({ SecretString: 'one' });
  const { SecretList = [] } = await second.send(new ListSecretsCommand({}));
  expect(SecretList.map(({ Name }) => Name)).toEqual([NAME]);
});
