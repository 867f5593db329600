import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { Agent } from 'undici';
import type { BareCalls } from './bare-calls.ts';
import { handler as withoutPlatform } from './bare-ingest.ts';

/** The packages that apply must use, and as many calls as its first message makes. */
export async function handler(calls: BareCalls): Promise<void> {
  await withoutPlatform(calls);
  const secrets = new SecretsManagerClient({});
  for (let n = 0; n < calls.secrets; n += 1) {
    await secrets.send(new GetSecretValueCommand({ SecretId: calls.secret }));
  }
  const agent = new Agent();
  for (const path of calls.platform) {
    const answer = await agent.request({
      origin: calls.platformUrl,
      path,
      method: 'GET',
      headers: { authorization: `Bearer ${calls.token}` },
    });
    await answer.body.json();
  }
}
