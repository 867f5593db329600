import { testedAlarm } from '../contract/names.ts';
import type { AlarmClient } from '../sync/ports/deployment.ts';
import type { Query } from './query.ts';

/** Creates the client with the three operations of CloudWatch and SNS that `doctor --alarms` needs. */
export function createAlarmClient(ask: Query, prefix: string): AlarmClient {
  const AlarmName = testedAlarm(prefix);
  return {
    async ring(StateValue, StateReason) {
      await ask('monitoring', { Action: 'SetAlarmState', AlarmName, StateValue, StateReason });
    },
    async actionsSince(atMs) {
      const about = { AlarmName, HistoryItemType: 'Action', StartDate: new Date(atMs).toISOString() };
      return (await ask('monitoring', { Action: 'DescribeAlarmHistory', ...about }))('HistorySummary');
    },
    async subscriptionsOf(TopicArn) {
      return (await ask('sns', { Action: 'ListSubscriptionsByTopic', TopicArn }))('SubscriptionArn');
    },
  };
}
