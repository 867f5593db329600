import type { Check } from '../../contract/answers/connect.ts';
import { alarmTopicName } from '../../contract/names.ts';
import type { AlarmClient, Deployment } from '../../sync/ports/deployment.ts';
import { check } from './check.ts';

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
