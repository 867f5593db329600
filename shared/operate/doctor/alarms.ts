import type { Check } from '../../contract/answers/connect.ts';
import { alarmTopicName, testedAlarm } from '../../contract/names.ts';
import type { ToolPorts } from '../../sync/ports/bundles.ts';
import type { AlarmClient, Deployment } from '../../sync/ports/deployment.ts';
import { check, fault, guarded } from './check.ts';
import { redeploy } from './redeploy.ts';

const TRIES = 15;
const BETWEEN_MS = 2_000;

/** Sets one alarm to ALARM, checks that the topic was notified and has subscribers, and resets the alarm. */
export const checkAlarms = (
  { prefix, alarms }: { readonly prefix: string; readonly alarms: AlarmClient },
  { clock, sleep }: Pick<ToolPorts, 'clock' | 'sleep'>,
): Promise<readonly Check[]> =>
  guarded('alarm', async () => {
    const name = testedAlarm(prefix);
    const sinceMs = clock();
    await alarms.ring('ALARM', 'a test by groupsync doctor --alarms');
    let actions: readonly string[] = [];
    try {
      for (let tries = 0; tries < TRIES && actions.length === 0; tries += 1) {
        await sleep(BETWEEN_MS);
        actions = await alarms.actionsSince(sinceMs);
      }
    } finally {
      await alarms.ring('OK', 'end of the test by groupsync doctor --alarms');
    }
    const topic = /arn:[\w-]+:sns:[\w:-]+/.exec(actions.join(' '))?.[0];
    if (topic === undefined)
      return fault('alarm', `${name} fired, but AWS has recorded no alarm action`, redeploy);
    const isNotified = actions.some((action) => /^successfully executed/i.test(action));
    const rang = check('alarm', isNotified, {
      detail: `${name} fired: ${isNotified ? `${topic} was notified` : actions.join('; ')}`,
      fix: `the policies of topic and key must permit cloudwatch.amazonaws.com: ${redeploy}; for a key in keyArn see docs/deploy.md, "Remove"`,
    });
    return [rang, ...(await guarded('alarm subscription', () => checkSubscriptions(topic, alarms)))];
  });

/** Checks that the alarms have a receiver. Does not change the state of an alarm. */
export async function checkAlarmTarget({
  prefix,
  deployment,
}: {
  readonly prefix: string;
  readonly deployment: Deployment;
}): Promise<readonly Check[]> {
  const { alarms, region } = deployment;
  const account = await deployment.account();
  if (alarms === undefined || account === undefined) return [];
  const topic = `arn:${partitionOf(region)}:sns:${region}:${account}:${alarmTopicName(prefix)}`;
  return [{ ...(await checkSubscriptions(topic, alarms)), name: 'alarm target' }];
}

/** The partition of a region (AWS general reference, "Amazon Resource Names"). */
function partitionOf(region: string): string {
  if (region.startsWith('cn-')) return 'aws-cn';
  return region.startsWith('us-gov-') ? 'aws-us-gov' : 'aws';
}

async function checkSubscriptions(topic: string, alarms: AlarmClient): Promise<Check> {
  const all = await alarms.subscriptionsOf(topic);
  const confirmed = all.filter((arn) => arn.startsWith('arn:')).length;
  const waiting = all.length - confirmed;
  return check('alarm subscription', confirmed > 0, {
    detail: `${confirmed} confirmed, ${waiting} to be confirmed`,
    fix:
      waiting > 0
        ? 'follow the link in the mail that AWS sent'
        : 'groupsync deploy --set alarmEmail=ops@example.com',
  });
}
