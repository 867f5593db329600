import { testedAlarm } from '../contract/names.ts';
import type { AlarmClient } from '../sync/ports/deployment.ts';
import type { Sdk } from './sdk.ts';

const VERSIONS = { monitoring: '2010-08-01', sns: '2010-03-31' } as const;

/**
 * Calls three operations of CloudWatch and SNS, which only one command needs. It uses AWS's query protocol and the
 * signer of an existing client, so that two more clients need not be loaded.
 * @param to.endpoint URL of an emulator of AWS; undefined: AWS itself
 */
export function createAlarmClient(
  sdk: Sdk,
  to: { prefix: string; endpoint: string | undefined },
): AlarmClient {
  const { endpoint, prefix } = to;
  const AlarmName = testedAlarm(prefix);

  async function ask(service: keyof typeof VERSIONS, fields: Readonly<Record<string, string>>) {
    const region = await sdk.region();
    const suffix = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
    const url = new URL(endpoint ?? `https://${service}.${region}.${suffix}`);
    const body = new URLSearchParams({ ...fields, Version: VERSIONS[service] }).toString();
    const sent = { 'content-type': 'application/x-www-form-urlencoded', host: url.host };
    const { protocol, hostname } = url;
    const unsigned = { method: 'POST', protocol, hostname, path: '/', query: {}, headers: sent, body };
    const signed = await (await sdk.signer(service)).sign(unsigned);
    const answer = await fetch(url, { method: 'POST', headers: signed.headers, body });
    const text = await answer.text();
    if (answer.ok) return (name: string) => valuesOf(text, name);
    const [name = `HTTP ${answer.status}`] = valuesOf(text, 'Code');
    throw Object.assign(new Error(valuesOf(text, 'Message')[0] ?? name), { name });
  }

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

const valuesOf = (xml: string, name: string): readonly string[] =>
  [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, 'g'))].map(([, text = '']) => text);
