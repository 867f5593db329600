import * as z from 'zod';
import { Identifier, Instant } from '../events/fields.ts';
import { CloudEvent, isNativeType, NATIVE_TYPES, nativeEvent } from '../events/native.ts';
import { type Adapter, IGNORED, invalid, invalidBy, type MessageReading } from './reading.ts';

/** The time of an envelope, for events without their own time. It may be missing or invalid. */
const EnvelopeTime = Instant.optional().catch(undefined);
const EnvelopeId = Identifier.optional().catch(undefined);

const SnsNotification = z.lazy(() =>
  z.object({
    Message: z.string(),
    MessageId: EnvelopeId,
    Timestamp: EnvelopeTime,
    MessageAttributes: z
      .object({ connection: z.object({ Value: z.string() }).optional() })
      .nullish()
      .catch(undefined),
  }),
);

/** An SNS notification as SQS delivers it (SNS developer guide, "Fanout to Amazon SQS queues"; not raw delivery). */
export const readSns: Adapter = (value) => {
  if (value['Type'] !== 'Notification' || !Object.hasOwn(value, 'Message')) return undefined;
  const parsed = SnsNotification.safeParse(value);
  if (!parsed.success) return invalidBy(parsed.error);
  const { Message, MessageId, Timestamp, MessageAttributes } = parsed.data;
  return {
    kind: 'envelope',
    content: { json: Message },
    time: Timestamp,
    id: MessageId,
    connection: MessageAttributes?.connection?.Value,
    carriesAnything: false,
  };
};

const EventBridgeEvent = z.lazy(() =>
  z.object({
    'detail-type': z.string(),
    detail: z.record(z.string(), z.unknown()),
    id: EnvelopeId,
    source: z.unknown(),
    time: EnvelopeTime,
  }),
);

/**
 * An EventBridge event (EventBridge user guide, "Events"). Its field `detail` is an event of any supported format. If
 * `detail-type` begins with `directory.` and `detail` is no CloudEvent, `detail` is the `data` of a native event, with
 * optional `time`, `sequence`, `connection` and `actor`. The id and the source come from the envelope.
 */
export const readEventBridge: Adapter = (value) => {
  if (!Object.hasOwn(value, 'detail-type')) return undefined;
  const parsed = EventBridgeEvent.safeParse(value);
  if (!parsed.success) return invalidBy(parsed.error);
  const { 'detail-type': type, detail, id, source, time } = parsed.data;
  if (type.startsWith('directory.') && !Object.hasOwn(detail, 'specversion')) {
    const { sequence, connection, actor } = detail;
    return readNative(type, {
      type,
      specversion: '1.0',
      id,
      source,
      // The time of the envelope is the time at which EventBridge received the event, in whole seconds.
      time: EnvelopeTime.parse(detail['time']) ?? time,
      sequence,
      connection,
      actor,
      data: detail,
    });
  }
  return { kind: 'envelope', content: { value: detail }, time, id, carriesAnything: true };
};

const OktaHook = z.lazy(() => z.object({ data: z.object({ events: z.array(z.unknown()) }) }));

/** The unchanged body of an Okta event hook: a list of log events (Okta developer guide, "Event hooks"). */
export const readOktaHook: Adapter = (value) => {
  if (value['eventType'] !== 'com.okta.event_hook') return undefined;
  const parsed = OktaHook.safeParse(value);
  if (!parsed.success) return invalidBy(parsed.error);
  return { kind: 'envelope', content: { value: parsed.data.data.events }, carriesAnything: false };
};

/** One schema for each type, built by the first event of the type, because building is expensive. */
const SCHEMAS = new Map(NATIVE_TYPES.map((type) => [type, z.lazy(() => nativeEvent(type))] as const));

/** Reads CloudEvents 1.0 in structured JSON. The queue may contain native events and CloudEvents of other types. */
export const readCloudEvent: Adapter = (value) => {
  if (!Object.hasOwn(value, 'specversion')) return undefined;
  const envelope = CloudEvent.safeParse(value);
  if (!envelope.success) return invalidBy(envelope.error);
  const { type } = envelope.data;
  if (!type.startsWith('directory.')) return IGNORED;
  return readNative(type, value);
};

/** Reads an event of a type `directory.…`. groupsync defines these types, so an unknown type is an error. */
function readNative(type: string, value: Readonly<Record<string, unknown>>): MessageReading {
  const schema = isNativeType(type) ? SCHEMAS.get(type) : undefined;
  if (schema === undefined) {
    return invalid(`type: expected one of ${NATIVE_TYPES.join(', ')}`, 'unknown_type');
  }
  const parsed = schema.safeParse(value);
  if (!parsed.success) return invalidBy(parsed.error);
  const { source, id, time, sequence, connection, actor, data } = parsed.data;
  return {
    kind: 'changes',
    source,
    id,
    time,
    sequence: sequence ?? undefined,
    connection: connection ?? undefined,
    actor: actor == null ? undefined : { kind: 'directory', id: actor },
    changes: [data],
  };
}
