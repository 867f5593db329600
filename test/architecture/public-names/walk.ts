import * as z from 'zod';

const field = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly prefixItems?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
}

/** Returns every field of a JSON Schema as a path, and every constant value of a field as `path = value`. */
export function namesOfSchema(
  root: JsonSchema,
  schema = root,
  path = '',
  open: readonly string[] = [],
): string[] {
  const inside = (child: JsonSchema, at: string) => namesOfSchema(root, child, at, open);
  const { $ref: ref = '', properties = {}, additionalProperties: rest, items, prefixItems = [] } = schema;
  const values = [...(schema.enum ?? []), ...('const' in schema ? [schema.const] : [])];
  const alternatives = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  const target = root.$defs?.[ref.split('/').at(-1) ?? ''];
  return [
    ...values.map((value) => `${path} = ${JSON.stringify(value)}`),
    ...Object.entries(properties).flatMap(([name, child]) => [
      field(path, name),
      ...inside(child, field(path, name)),
    ]),
    ...(typeof rest === 'object' ? inside(rest, field(path, '*')) : []),
    ...[...(items === undefined ? [] : [items]), ...prefixItems].flatMap((child) =>
      inside(child, `${path}[]`),
    ),
    ...alternatives.flatMap((child) => inside(child, path)),
    // A schema that contains itself is described once.
    ...(target === undefined || open.includes(ref) ? [] : namesOfSchema(root, target, path, [...open, ref])),
  ];
}

/**
 * Returns the fields and values that a zod schema accepts. The values of a custom check are in its message, such as
 * `"a" or "b"`.
 */
export function namesOfForm(form: z.ZodType): string[] {
  const schema = z.toJSONSchema(form, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema._zod.def.type !== 'custom') return;
      const message = (zodSchema as unknown as z.ZodType).safeParse('\0').error?.issues[0]?.message ?? '';
      const values = [...(message.split(', got ')[0] ?? '').matchAll(/"([^"]+)"/g)].map(([, value]) => value);
      if (values.length > 0) Object.assign(jsonSchema, { enum: values });
    },
  });
  return namesOfSchema(schema as JsonSchema);
}

/** Returns the fields of an answer as paths. */
export function fieldsOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => fieldsOf(item, `${path}[]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, child]) => [
    field(path, name),
    ...fieldsOf(child, field(path, name)),
  ]);
}
