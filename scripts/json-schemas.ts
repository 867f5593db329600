import { z } from 'zod';
import { NATIVE_DATA, NATIVE_TYPES, nativeEvent } from '../shared/contract/events/native.ts';
import { OUTPUT_SCHEMAS } from './output-schemas.ts';

/**
 * The generated JSON Schemas. Their sources are the schemas that decode events, and the schemas that tests use to check
 * the output of commands.
 */
export const JSON_SCHEMAS = [
  ...NATIVE_TYPES.map((type) =>
    schemaFile(`docs/events/${type}`, nativeEvent(type), {
      title: type,
      description: NATIVE_DATA[type].unwrap().description,
    }),
  ),
  ...Object.entries(OUTPUT_SCHEMAS).map(([command, schema]) => {
    const name = command.toLowerCase().replaceAll(' ', '-');
    return schemaFile(`docs/cli/schemas/${name}`, schema, { title: `groupsync ${command} --json` });
  }),
];

function schemaFile(
  path: string,
  form: z.ZodType,
  about: { title: string; description?: string | undefined },
) {
  const content = () => {
    const { $schema, ...schema } = z.toJSONSchema(form, { target: 'draft-2020-12', io: 'input' });
    const $id = `${path.split('/').at(-1)}.schema.json`;
    return `${JSON.stringify({ $schema, $id, ...about, ...schema }, null, 2)}\n`;
  };
  return { path: `${path}.schema.json`, content };
}
