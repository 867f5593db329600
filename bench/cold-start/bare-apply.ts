import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { Agent } from 'undici';
import { type BareCalls, makeInOrder } from './bare-calls.ts';
import { createMaker } from './bare-ingest.ts';

/** Imports the packages that apply needs, and repeats the calls that apply made for its first message. */
export async function handler(calls: BareCalls): Promise<void> {
  const withoutPlatform = createMaker(calls);
  const secrets = new SecretsManagerClient({});
  const agent = new Agent();
  await makeInOrder(calls.calls, async (call) => {
    if (call.to === 'secret') return secrets.send(new GetSecretValueCommand({ SecretId: calls.secret }));
    if (call.to !== 'platform') return withoutPlatform(call);
    const answer = await agent.request({
      origin: calls.platformUrl,
      path: call.path,
      method: 'GET',
      headers: { authorization: `Bearer ${calls.token}` },
    });
    return answer.body.json();
  });
}
