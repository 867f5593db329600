import { join } from 'node:path';
import { CreateSecretCommand } from '@aws-sdk/client-secrets-manager';
import { SubscribeCommand } from '@aws-sdk/client-sns';
import { CreateQueueCommand, GetQueueAttributesCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import * as z from 'zod';
import { CLIENT_ID, startLoginProvider } from '../../local/console-login/provider.ts';
import { alarmTopicName, CONSOLE_URL_OUTPUT, consoleSecretName } from '../../shared/contract/names.ts';
import type { Cdk, StageOfStack } from './cdk.ts';
import { type Answer, type Browser, createBrowser } from './console-browser.ts';
import { readOutputs } from './deployment.ts';
import { ACCOUNT, REGION } from './environment.ts';
import { EVERYONE, holdEveryone, untilGroups } from './scenario.ts';
import {
  type CheckInput,
  connect,
  expectContains,
  expectEqual,
  step,
  TIMEOUT_MS,
  whileRunning,
} from './steps.ts';

interface ConsoleCheck extends CheckInput {
  readonly cdk: Cdk;
  readonly prefix: string;
}

const ROLES = ['viewer', 'approver'] as const;
const ACCOUNTS = new Map([...ROLES, 'stranger'].map((name) => [name, { groups: [`groupsync-${name}`] }]));
const CLIENT_SECRET = 'the-secret-of-the-client-'.repeat(2);

/** The settings of a stage with the console, as docs/access.md describes them. */
const settingsOf = (issuer: string, clientId: string) => ({
  notify: ['alarms'],
  retainData: false,
  console: {
    issuer,
    clientId,
    hasSecret: true,
    scopes: ['openid', 'email', 'profile', 'groups'],
    roles: ROLES.map((role) => ({ claim: 'groups', value: `groupsync-${role}`, role })),
  },
});

/**
 * Tests the console of a stage. The stage is deployed in the steps of docs/deploy.md. Then an approver opens the link
 * of a notification, signs in at an OIDC provider, and approves a part of the hold.
 */
export async function checkConsole(on: ConsoleCheck): Promise<void> {
  const { cdk, clients, prefix } = on;
  const stageAs = (name: string, settings: StageOfStack['settings']): StageOfStack => ({
    prefix,
    out: join(on.folder, name),
    context: {},
    ...(settings && { settings }),
  });
  const first = stageAs('first', settingsOf('http://127.0.0.1:1', 'any'));
  await step(`deploy ${prefix} with the console`, async () => {
    await cdk.synth(first);
    await cdk.deploy(first);
  });
  const origin = readOutputs(first)(CONSOLE_URL_OUTPUT);
  const redirectUri = `${origin}/auth/callback`;
  const provider = await startLoginProvider({ redirectUri, clientSecret: CLIENT_SECRET, accounts: ACCOUNTS });
  const stage = stageAs('second', settingsOf(provider.issuer, CLIENT_ID));
  try {
    await step('store the client secret, and deploy with the provider', async () => {
      const Name = consoleSecretName(prefix);
      const SecretString = JSON.stringify({ clientSecret: CLIENT_SECRET });
      await clients.secrets.send(new CreateSecretCommand({ Name, SecretString }));
      await cdk.synth(stage);
      await cdk.deploy(stage);
      await cdk.expectNoDifference(stage);
    });
    await useConsole(on, stage, origin);
  } finally {
    provider.stop();
  }
  await step(`destroy ${prefix}`, () => cdk.destroy(stage));
}

function useConsole(on: ConsoleCheck, stage: StageOfStack, origin: string): Promise<void> {
  return whileRunning(on, stage, async (running) => {
    const { console } = running;
    if (console === undefined) throw new Error('expected the stage to have the function console');
    const stranger = createBrowser(console, origin);
    const viewer = createBrowser(console, origin);
    const approver = createBrowser(console, origin);
    const link = await step('a notification of the hold has a link to the console', async () => {
      await connect(on, stage);
      const nextNotice = await subscribe(on);
      await holdEveryone(running, on, stage);
      return linkIn(await nextNotice(() => running.functions.reconcile.invoke({ task: 'pump' })), origin);
    });
    await step('without a session or a role, the console gives no data', async () => {
      expectStatus(403, await stranger.signIn(link, 'stranger'));
      expectStatus(401, await stranger.ask('/api/home?connection=default'));
    });
    await step('the approver opens the link, signs in, and sees the linked page', async () => {
      const page = expectStatus(200, await approver.signIn(link, 'approver'));
      expectEqual('the address after the sign-in', page.url.href, link);
      expectContains(page.text, 'data-person="approver@acme.example"');
      const [, script = ''] = /<script[^>]* src="([^"]+)"/.exec(page.text) ?? [];
      expectStatus(200, await approver.open(new URL(script, page.url).href));
      expectContains(
        expectStatus(200, await approver.ask('/api/home?connection=default')).text,
        '"Everyone"',
      );
    });
    const hold = holdIn(expectStatus(200, await approver.ask(HOLD)));
    const decision = { group: EVERYONE.group, digest: hold.digest, users: ['user-eve', 'user-fay'] };
    await step('a viewer sees the hold and cannot approve it', async () => {
      expectStatus(200, await viewer.signIn(link, 'viewer'));
      expectEqual('the hold', holdIn(expectStatus(200, await viewer.ask(HOLD))), hold);
      const refused = await viewer.ask('/api/approve?connection=default', { ...decision, reason: 'none' });
      expectContains(
        expectStatus(403, refused).text,
        'this needs the role approver; you have the role viewer',
      );
    });
    await step('the approver approves a part, and only these removals are written', async () => {
      const body = { ...decision, reason: 'both have left' };
      expectStatus(200, await approver.ask('/api/approve?connection=default', body));
      const expected = { Everyone: ['user-ann', 'user-ben', 'user-cleo', 'user-dan'] };
      await untilGroups(running, on.platform, { expected, timeoutMs: TIMEOUT_MS });
      expectContains(
        (await approver.ask('/api/activity?connection=default')).text,
        'console:approver@acme.example',
      );
      expectEqual('the removals that are still held', holdIn(await approver.ask(HOLD)).removes, 3);
    });
    await step('after signing out, the console gives no data', () => signOut(approver));
  });
}

const HOLD = `/api/hold?connection=default&group=${EVERYONE.group}`;

async function signOut(person: Browser): Promise<void> {
  expectStatus(204, await person.ask('/auth/sign-out', {}));
  expectStatus(401, await person.ask('/api/home?connection=default'));
}

const Hold = z.object({ hold: z.object({ digest: z.string(), removes: z.number() }) });
const holdIn = ({ text }: Answer) => {
  const { digest, removes } = Hold.parse(JSON.parse(text)).hold;
  return { digest, removes };
};

/** Subscribes a queue to the alarm topic. @returns a function that waits for the next message of the topic */
async function subscribe({ clients: { sns, sqs }, prefix }: ConsoleCheck) {
  const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: `notices-of-${prefix}` }));
  const { Attributes } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] }),
  );
  const TopicArn = `arn:aws:sns:${REGION}:${ACCOUNT}:${alarmTopicName(prefix)}`;
  await sns.send(new SubscribeCommand({ TopicArn, Protocol: 'sqs', Endpoint: Attributes?.['QueueArn'] }));
  return async (trigger: () => Promise<unknown>): Promise<string> => {
    for (const endsAt = Date.now() + TIMEOUT_MS; Date.now() < endsAt; ) {
      await trigger();
      const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 1 }));
      if (Messages[0]?.Body !== undefined) return Notice.parse(JSON.parse(Messages[0].Body)).Message;
    }
    throw new Error('expected a notification of the hold');
  };
}

const Notice = z.object({ Message: z.string() });

function linkIn(notice: string, origin: string): string {
  const expected = `${origin}/c/default/holds/${EVERYONE.group}`;
  const link = notice.split('\n').find((line) => line === expected);
  if (link === undefined) throw new Error(`expected a link to the hold in the notification:\n${notice}`);
  return link;
}

function expectStatus(status: number, answer: Answer): Answer {
  expectEqual(`the answer of ${answer.url.pathname} (${answer.text.slice(0, 200)})`, answer.status, status);
  return answer;
}
