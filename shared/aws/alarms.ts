import type { AlarmClient } from '../sync/ports/deployment.ts';
import type { Query } from './query.ts';

export const createAlarmClient = (ask: Query): AlarmClient => ({
  async subscriptionsOf(TopicArn) {
    return (await ask('sns', { Action: 'ListSubscriptionsByTopic', TopicArn }))('SubscriptionArn');
  },
});
