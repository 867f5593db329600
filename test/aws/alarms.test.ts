import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createAlarmClient } from '../../shared/aws/alarms.ts';
import { createQuery } from '../../shared/aws/query.ts';
import { createSdk } from '../../shared/aws/sdk.ts';
import { checkAlarms } from '../../shared/operate/doctor/alarms.ts';

const TOPIC = 'arn:aws:sns:eu-west-1:111122223333:groupsync-alarms';
const TOLD = `Successfully executed action ${TOPIC}`;
const FAILED = `Failed to execute action ${TOPIC}. Received error: "Resource: ${TOPIC} is not authorized"`;
const CONFIRMED = `${TOPIC}:11111111-2222-3333-4444-555555555555`;

/** Starts a server for the query protocol of CloudWatch and SNS. Its answers have the format of the API references. */
async function startAws({ history = [TOLD], subscriptions = [CONFIRMED], refused }: Says) {
  const asked: URLSearchParams[] = [];
  const list = (name: string, of: string, values: readonly string[]) =>
    `<${name}>${values.map((value) => `<member><${of}>${value}</${of}></member>`).join('')}</${name}>`;
  const server = createServer(async (incoming, response) => {
    let body = '';
    for await (const chunk of incoming) body += String(chunk);
    const fields = new URLSearchParams(body);
    const action = fields.get('Action') ?? '';
    const service = action.includes('Alarm') ? 'monitoring' : 'sns';
    expect(incoming.headers.authorization).toMatch(
      new RegExp(`^AWS4-HMAC-SHA256 .*/eu-west-1/${service}/aws4`),
    );
    asked.push(fields);
    if (action === refused) {
      response.writeHead(403).end('<Error><Code>AccessDenied</Code><Message>not allowed</Message></Error>');
    } else if (action === 'DescribeAlarmHistory') {
      // CloudWatch shows an alarm action in the history only after some time.
      const tries = asked.filter((one) => one.get('Action') === action).length;
      response.end(list('AlarmHistoryItems', 'HistorySummary', tries < 3 ? [] : history));
    } else response.end(list('Subscriptions', 'SubscriptionArn', subscriptions));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { asked, endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

interface Says {
  readonly history?: readonly string[];
  readonly subscriptions?: readonly string[];
  readonly refused?: string;
}

it.each([
  ['the topic has a confirmed subscriber', {}, [true, true], /1 confirmed, 0 to be/],
  ['no subscriber confirmed', { subscriptions: ['PendingConfirmation'] }, [true, false], /link in the mail/],
  ['the topic has no subscription', { subscriptions: [] }, [true, false], /alarmEmail/],
  ['the topic policy refuses publication', { history: [FAILED] }, [false, true], /not authorized.*policies/],
  ['the alarm history is empty', { history: [] }, [false], /no alarm action/],
  ['setting the alarm state is denied', { refused: 'SetAlarmState' }, [false], /AccessDenied/],
  ['listing subscriptions is denied', { refused: 'ListSubscriptionsByTopic' }, [true, false], /AccessDenied/],
] as const)('checkAlarms sets an alarm and checks delivery: %s', async (_, says: Says, outcome, words) => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'testing');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'testing');
  onTestFinished(() => void vi.unstubAllEnvs());
  const { asked, endpoint } = await startAws(says);
  const sdk = createSdk({ region: 'eu-west-1' });
  onTestFinished(() => sdk.close());
  const alarms = createAlarmClient(createQuery(sdk, endpoint), 'groupsync');
  const checks = await checkAlarms(
    { prefix: 'groupsync', alarms },
    { clock: () => 0, sleep: async () => {} },
  );
  expect(checks.map(({ ok }) => ok)).toEqual(outcome);
  expect(JSON.stringify(checks)).toMatch(words);
  const states = asked
    .filter((one) => one.get('Action') === 'SetAlarmState')
    .map((one) => one.get('StateValue'));
  expect(states).toEqual(says.refused === 'SetAlarmState' ? ['ALARM'] : ['ALARM', 'OK']);
  expect(asked[0]?.get('AlarmName')).toBe('groupsync-scheduled-work-late');
});
