import { z } from 'zod';
import { NATIVE_DATA, NATIVE_TYPES, nativeEvent } from '../shared/contract/events/native.ts';
import type { GeneratedFile } from './generated-file.ts';

/** JSON Schemas of the native events, for producers: from the very schemas that the decoder reads with. */
export const EVENT_SCHEMAS: readonly GeneratedFile[] = NATIVE_TYPES.map((type) => ({
  path: `docs/events/${type}.schema.json`,
  content: () => {
    const { $schema, ...schema } = z.toJSONSchema(nativeEvent(type), {
      target: 'draft-2020-12',
      io: 'input',
    });
    const description = NATIVE_DATA[type].unwrap().description;
    const document = { $schema, $id: `${type}.schema.json`, title: type, description, ...schema };
    return `${JSON.stringify(document, null, 2)}\n`;
  },
}));
