import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { PublishCommand, SNSClient } from '@aws-sdk/client-sns';
import { mockClient } from 'aws-sdk-client-mock';
import { Agent, type Dispatcher } from 'undici';
import { expect, it } from 'vitest';
import { createNotifier } from '../../shared/aws/notifier.ts';
import type { Notice } from '../../shared/domain/notice.ts';
import { startServer } from './support/server.ts';

const TOPIC = 'arn:aws:sns:eu-west-1:111122223333:t';
const NOTICE: Notice = ['prod acme: groups held: 1', '"<!channel> & Élan"', 'npx groupsync holds'];

function notifierOf(
  url: string | undefined,
  { targets = ['webhook'], isLocal = false, dispatcher = new Agent() as Dispatcher } = {},
) {
  const clients = { sns: new SNSClient({ region: 'x' }), secrets: new SecretsManagerClient({ region: 'x' }) };
  // Each client has its own mock, because other test files use the same class.
  const secrets = mockClient(clients.secrets);
  const sns = mockClient(clients.sns);
  if (url === undefined) secrets.on(GetSecretValueCommand).rejects({ name: 'ResourceNotFoundException' });
  else
    secrets
      .on(GetSecretValueCommand, { SecretId: 'prod/notify' })
      .resolves({ SecretString: JSON.stringify({ url }) });
  return { sns, notifier: createNotifier({ prefix: 'prod', targets, dispatcher, isLocal, ...clients }) };
}

/** Starts a webhook that answers with this status. If it is undefined, the webhook only closes the connection. */
async function webhook(status: number | undefined) {
  const bodies: string[] = [];
  const url = await startServer(async (request, response) => {
    for await (const chunk of request) bodies.push(String(chunk));
    if (status === undefined) request.socket.destroy();
    else response.writeHead(status, { location: 'http://127.0.0.1:1/' }).end('no');
  });
  return { bodies, url: `${url}/hook/s3cret?sig=s3cret` };
}

it.each([
  [200, undefined],
  [404, 'the webhook answered 404'],
  [302, 'the webhook answered 302'],
  [undefined, 'SocketError'],
])('if the webhook answers %s, the outcome of the notice is %o', async (status, expected) => {
  const { url, bodies } = await webhook(status);
  const told = await notifierOf(url, { isLocal: true }).notifier.send(NOTICE);
  expect(told.get('webhook')).toBe(expected);
  expect(JSON.parse(bodies[0] ?? '')).toEqual({ text: NOTICE.join('\n') });
});

it.each([
  ['http://hooks.slack.com/s3cret', true],
  ['http://127.0.0.1:1/s3cret', false],
  ['http://127.0.0.1.evil.test/s3cret', true],
  ['s3cret', true],
  ['', true],
])('the webhook URL "%s" is refused (local stack: %s)', async (url, isLocal) => {
  const dispatcher = { request: () => expect.fail('was asked') } as never;
  const told = await notifierOf(url, { isLocal, dispatcher }).notifier.send(NOTICE);
  expect(told.get('webhook')).toBe('the secret prod/notify holds no {"url": "https://…"}');
});

it('the notice is escaped for Slack and sent unescaped to Teams', async () => {
  const sent: string[] = [];
  const dispatcher = {
    request: async ({ body }: { body: string }) => {
      sent.push(body);
      return { statusCode: 200, body: { dump: async () => {} } };
    },
  } as never;
  for (const url of ['https://hooks.slack.com/services/x', 'https://x.westeurope.logic.azure.com/y?sig=z'])
    await notifierOf(url, { dispatcher }).notifier.send(NOTICE);
  expect(JSON.parse(sent[0] ?? '').text).toContain('"&lt;!channel&gt; &amp; Élan"');
  expect(JSON.parse(sent[1] ?? '').attachments[0].content.body[1]).toEqual({
    type: 'RichTextBlock',
    inlines: [{ type: 'TextRun', text: '"<!channel> & Élan"' }],
  });
});

it('the SNS subject contains only ASCII characters, and SNS is notified although the webhook fails', async () => {
  const { notifier, sns } = notifierOf(undefined, { targets: ['webhook', TOPIC] });
  const told = await notifier.send([`Élan ${'x'.repeat(200)}`, 'line']);
  expect([...told]).toEqual([['webhook', 'ResourceNotFoundException']]);
  const [call] = sns.commandCalls(PublishCommand);
  expect(call?.args[0].input).toMatchObject({ TopicArn: TOPIC, Message: expect.stringContaining('Élan') });
  expect(call?.args[0].input.Subject).toMatch(/^\?lan x{95}$/);
});
