import { fileURLToPath } from 'node:url';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { beforeAll, expect, it } from 'vitest';
import cdkJson from '../../cdk.json' with { type: 'json' };
import { ConnectorStack } from '../../infra/connector-stack.ts';
import { DEPLOYABLE_KEYS, type FunctionCode } from '../../infra/function-code.ts';
import { readSettings } from '../../infra/settings.ts';
import { type Json, type JsonObject, releaseTemplate, zipName } from '../../scripts/release-template.ts';

const code = Object.fromEntries(
  DEPLOYABLE_KEYS.map((name) => [name, fileURLToPath(new URL(`../infra/fixture/${name}`, import.meta.url))]),
) as FunctionCode;

/** Returns the template that the CDK deploys with these settings, for any account and region. */
function deployedByCdk(given: Readonly<Record<string, unknown>>): JsonObject {
  const { stages: _stages, ...flags } = cdkJson.context;
  const context = { ...flags, '@aws-cdk/core:validateAgainstDefaultRules': false };
  const settings = readSettings(given);
  const stack = new ConnectorStack(new App({ context }), 'groupsync', { settings, code });
  return Template.fromStack(stack).toJSON() as JsonObject;
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Evaluates parameters and conditions, as CloudFormation does. Absent values are undefined. */
function evaluator(template: JsonObject, given: Readonly<Record<string, string>>) {
  const parameters = template['Parameters'] as Readonly<Record<string, { readonly Default?: string }>>;
  const parameter = (name: string) => given[name] ?? parameters[name]?.Default;
  const isTrue = (condition: string): boolean => {
    const test = (value: Json | undefined): boolean => {
      const [[name, argument] = ['', null]] = Object.entries(value as JsonObject);
      const list = argument as readonly Json[];
      return name === 'Fn::Not' ? !test(list[0]) : evaluate(list[0]) === evaluate(list[1]);
    };
    return test((template['Conditions'] as JsonObject)[condition]);
  };
  const evaluate = (value: Json | undefined): Json | undefined => {
    if (Array.isArray(value)) return value.map(evaluate).filter((item) => item !== undefined);
    if (!isObject(value)) return value;
    const { Ref } = value;
    if (Ref === 'AWS::NoValue') return undefined;
    if (typeof Ref === 'string' && Ref in parameters) return parameter(Ref);
    const choice = value['Fn::If'] as readonly [string, Json, Json] | undefined;
    if (choice !== undefined) return evaluate(isTrue(choice[0]) ? choice[1] : choice[2]);
    const fields = Object.entries(value).flatMap(([key, field]) => {
      const evaluated = evaluate(field);
      return evaluated === undefined ? [] : [[key, evaluated] as const];
    });
    return joined(Object.fromEntries(fields));
  };
  return { evaluate, isTrue };
}

/** Joins neighbouring texts of `Fn::Join`. The CDK does not join the texts after a parameter. */
function joined(value: JsonObject): Json {
  const [separator, parts] = (value['Fn::Join'] ?? []) as readonly [string?, (readonly Json[])?];
  if (separator !== '' || parts === undefined) return value;
  const short: Json[] = [];
  for (const part of parts) {
    const last = short.at(-1);
    if (typeof part === 'string' && typeof last === 'string') short[short.length - 1] = last + part;
    else short.push(part);
  }
  return short.length === 1 ? (short[0] ?? '') : { 'Fn::Join': ['', short] };
}

/** Returns a fixed id for the alarm subscription, because its logical id contains the address. */
const stableId = (id: string): string => id.replace(/^AlarmTopic(?:Token|opsexample).*/, 'AlarmMail');

/** Returns the resources and outputs of a template in a comparable form, without the locations of the code. */
function contentOf(template: JsonObject, given: Readonly<Record<string, string>>): JsonObject {
  const { evaluate, isTrue } = evaluator({ Parameters: {}, Conditions: {}, ...template }, given);
  const section = (title: string) =>
    Object.entries(template[title] as JsonObject).flatMap(([name, entry]) => {
      const id = stableId(name);
      const { Condition, Metadata: _metadata, DependsOn, ...rest } = entry as JsonObject;
      if (typeof Condition === 'string' && !isTrue(Condition)) return [];
      const properties = rest['Properties'] as JsonObject | undefined;
      if (properties !== undefined && 'Code' in properties) {
        const { Code, ...others } = properties;
        const isInline = 'ZipFile' in (Code as JsonObject);
        return [[id, evaluate({ ...rest, Properties: isInline ? properties : others })]];
      }
      return [[id, evaluate(rest)]];
    });
  return {
    Resources: Object.fromEntries(section('Resources')),
    Outputs: Object.fromEntries(section('Outputs')),
  };
}

interface Use {
  readonly name: string;
  /** The conditions that are true whenever this reference is evaluated. */
  readonly holds: readonly string[];
}

/** Yields every reference to a parameter or a resource. */
function* usesIn(value: Json | undefined, holds: readonly string[]): Generator<Use> {
  if (Array.isArray(value)) for (const item of value) yield* usesIn(item, holds);
  if (!isObject(value)) return;
  const [condition, whenTrue, whenFalse] = (value['Fn::If'] ?? []) as readonly [string?, Json?, Json?];
  if (condition !== undefined) {
    yield* usesIn(whenTrue, [...holds, condition]);
    yield* usesIn(whenFalse, holds);
    return;
  }
  const name = value['Ref'] ?? (value['Fn::GetAtt'] as readonly Json[] | undefined)?.[0];
  if (typeof name === 'string' && !name.startsWith('AWS::')) yield { name, holds };
  for (const item of Object.values(value)) yield* usesIn(item, holds);
}

const PRODUCER = 'arn:aws:iam::111122223333:role/directory';

let template: JsonObject;
beforeAll(() => {
  template = releaseTemplate();
}, 120_000);

it('the template without parameters is the stack that the CDK deploys without settings', () => {
  expect(contentOf(template, {})).toEqual(contentOf(deployedByCdk({}), {}));
});

it('the template with every parameter is the stack that the CDK deploys with the same settings', () => {
  const settings = {
    prefix: 'groupsync-eu',
    alarmEmail: 'ops@example.com',
    scim: true,
    sources: { producer: { connection: 'acme', producers: [PRODUCER] } },
  };
  const given = {
    Prefix: 'groupsync-eu',
    AlarmEmail: 'ops@example.com',
    ScimEnabled: 'true',
    ProducerArn: PRODUCER,
    ProducerConnection: 'acme',
  };
  expect(contentOf(template, given)).toEqual(contentOf(deployedByCdk(settings), {}));
});

it('the template refers only to its own parameters, resources and conditions, and to optional resources only under their condition', () => {
  const resources = template['Resources'] as Readonly<Record<string, JsonObject>>;
  const outputs = template['Outputs'] as Readonly<Record<string, JsonObject>>;
  const parameters = Object.keys(template['Parameters'] as JsonObject);
  const conditions = Object.keys(template['Conditions'] as JsonObject);
  const entries = Object.entries({ ...resources, ...outputs });
  const used = entries.flatMap(([id, entry]) => {
    const own = entry['Condition'];
    const holds = typeof own === 'string' ? [own] : [];
    return [...usesIn(entry, holds)].map((use) => ({ id, ...use }));
  });
  expect(used.length).toBeGreaterThan(100);
  const isThere = ({ name, holds }: Use): boolean => {
    const needed = resources[name]?.['Condition'];
    return name in resources && (needed === undefined || holds.includes(String(needed)));
  };
  expect(used.filter((use) => !parameters.includes(use.name) && !isThere(use))).toEqual([]);
  expect(used.flatMap(({ holds }) => holds).filter((name) => !conditions.includes(name))).toEqual([]);
  expect(JSON.stringify(template)).not.toContain('Fn::Sub');
});

it('the template needs no bootstrap: it has no rule, no asset and no parameter of the CDK', () => {
  expect(template).not.toHaveProperty('Rules');
  expect(JSON.stringify(template)).not.toMatch(
    /cdk-bootstrap|hnb659fds|BootstrapVersion|AssetParameters|aws:asset/,
  );
  expect(Object.keys(template['Parameters'] as JsonObject)).toEqual([
    'CodeBucket',
    'CodePrefix',
    'Prefix',
    'AlarmEmail',
    'ScimEnabled',
    'ProducerArn',
    'ProducerConnection',
  ]);
  const zips = DEPLOYABLE_KEYS.filter((key) => JSON.stringify(template).includes(`"${zipName(key)}"`));
  expect(zips).toEqual(DEPLOYABLE_KEYS.filter((key) => key !== 'directory' && key !== 'console'));
});
