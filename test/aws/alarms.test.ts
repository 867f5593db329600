import { expect, it, onTestFinished, vi } from 'vitest';
import { createAlarmClient } from '../../shared/aws/alarms.ts';
import { createQuery } from '../../shared/aws/query.ts';
import { createSdk } from '../../shared/aws/sdk.ts';
import { startServer } from './support/server.ts';

const TOPIC = 'arn:aws:sns:eu-west-1:111122223333:groupsync-alarms';

/** Starts a server for the query protocol of SNS. Its answers have the format of the API reference. */
async function startSns(status: number, answer: string) {
  const url = await startServer(async (incoming, response) => {
    let body = '';
    for await (const chunk of incoming) body += String(chunk);
    expect(incoming.headers.authorization).toMatch(/^AWS4-HMAC-SHA256 .*\/eu-west-1\/sns\/aws4/);
    expect(Object.fromEntries(new URLSearchParams(body))).toMatchObject({ TopicArn: TOPIC });
    response.writeHead(status).end(answer);
  });
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'testing');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'testing');
  onTestFinished(() => void vi.unstubAllEnvs());
  const sdk = createSdk({ region: 'eu-west-1' });
  onTestFinished(() => sdk.close());
  return createAlarmClient(createQuery(sdk, url));
}

it('the alarm client returns the subscriptions of a topic', async () => {
  const members = [`${TOPIC}:1`, 'PendingConfirmation'].map(
    (arn) => `<member><SubscriptionArn>${arn}</SubscriptionArn></member>`,
  );
  const alarms = await startSns(200, `<Subscriptions>${members.join('')}</Subscriptions>`);
  expect(await alarms.subscriptionsOf(TOPIC)).toEqual([`${TOPIC}:1`, 'PendingConfirmation']);
});

it('a refusal of SNS is thrown with its name', async () => {
  const text = '<Error><Code>AccessDenied</Code><Message>not allowed</Message></Error>';
  const alarms = await startSns(403, text);
  await expect(alarms.subscriptionsOf(TOPIC)).rejects.toMatchObject({ name: 'AccessDenied' });
});
