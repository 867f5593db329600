import * as z from 'zod';
import { CloudEvent, isNativeType, NATIVE_TYPES, nativeEvent } from '../events/native.ts';
import { type Adapter, IGNORED, invalid, invalidBy, type Reading } from './reading.ts';

const DIRECTORY_PREFIX = 'directory.';

/** One schema per type, built once, when the first event of the type comes: building is dearer than parsing. */
const SCHEMAS = new Map(NATIVE_TYPES.map((type) => [type, z.lazy(() => nativeEvent(type))] as const));

/** CloudEvents 1.0 in structured JSON: our native form, and events of others that came to our queue. */
export const readCloudEvent: Adapter = (value) => {
  if (!Object.hasOwn(value, 'specversion')) return undefined;
  const envelope = CloudEvent.safeParse(value);
  if (!envelope.success) return invalidBy(envelope.error);
  const { type } = envelope.data;
  if (!type.startsWith(DIRECTORY_PREFIX)) return IGNORED;
  return readNative(type, value);
};

/** A value with a `directory.*` type. Types are ours to define, so one that we do not know is a fault. */
export function readNative(type: string, value: Readonly<Record<string, unknown>>): Reading {
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
