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

const PRODUCER = 'arn:aws:iam::111122223333:role/directory';

let template: JsonObject;
beforeAll(() => {
  template = releaseTemplate();
}, 120_000);

const ALARM_MAIL = 'ops@example.com';
const SOURCE = { ProducerArn: PRODUCER, ProducerConnection: 'acme' };
const ofSource = { sources: { producer: { connection: 'acme', producers: [PRODUCER] } } };

it.each<[string, Readonly<Record<string, string>>, object]>([
  ['no parameter', {}, {}],
  ['only AlarmEmail', { AlarmEmail: ALARM_MAIL }, { alarmEmail: ALARM_MAIL }],
  ['only ScimEnabled', { ScimEnabled: 'true' }, { scim: true }],
  ['only a producer', SOURCE, ofSource],
  [
    'every parameter',
    { ...SOURCE, Prefix: 'groupsync-eu', AlarmEmail: ALARM_MAIL, ScimEnabled: 'true' },
    { ...ofSource, prefix: 'groupsync-eu', alarmEmail: ALARM_MAIL, scim: true },
  ],
])('the template with %s is the stack that the CDK deploys with the same settings', (_, given, settings) => {
  expect(contentOf(template, given)).toEqual(contentOf(deployedByCdk({ ...settings }), {}));
});

it('the template needs no bootstrap: it has no rule, no asset and no parameter of the CDK', () => {
  expect(template).not.toHaveProperty('Rules');
  expect(JSON.stringify(template)).not.toMatch(
    /cdk-bootstrap|hnb659fds|BootstrapVersion|AssetParameters|aws:asset|Fn::Sub/,
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
