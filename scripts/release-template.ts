import {
  App,
  CfnParameter,
  type CfnParameterProps,
  DefaultStackSynthesizer,
  Fn,
  type IStackSynthesizer,
  Validations,
} from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Code, type CodeConfig } from 'aws-cdk-lib/aws-lambda';
import * as z from 'zod';
import cdkJson from '../cdk.json' with { type: 'json' };
import { ConnectorStack } from '../infra/connector-stack.ts';
import { DEPLOYABLE_KEYS, type DeployableKey } from '../infra/function-code.ts';
import { readSettings, StageSettings } from '../infra/settings.ts';
import { DEFAULT_CONNECTION } from '../shared/contract/names.ts';
import { VERSION } from '../shared/contract/version.ts';

/** The name of the source in the template. The template supports only one source with a separate queue. */
const SOURCE = 'producer';

const CONDITIONS = {
  ScimOn: { 'Fn::Equals': [{ Ref: 'ScimEnabled' }, 'true'] },
  HasProducer: { 'Fn::Not': [{ 'Fn::Equals': [{ Ref: 'ProducerArn' }, ''] }] },
  HasAlarmEmail: { 'Fn::Not': [{ 'Fn::Equals': [{ Ref: 'AlarmEmail' }, ''] }] },
};

/** Returns the name of a function's zip file. In the bucket, the parameter `CodePrefix` precedes this name. */
export const zipName = (key: DeployableKey): string => `groupsync-${VERSION}-${key}.zip`;

/** The code of a function: its zip file in the bucket of the parameter `CodeBucket`. */
class ZippedCode extends Code {
  readonly isInline = false;
  readonly #objectKey: string;

  constructor(key: DeployableKey) {
    super();
    this.#objectKey = Fn.join('', [Fn.ref('CodePrefix'), zipName(key)]);
  }

  bind(): CodeConfig {
    return { s3Location: { bucketName: Fn.ref('CodeBucket'), objectKey: this.#objectKey } };
  }
}

/**
 * Returns the CloudFormation template of a release, which users deploy without the CDK. The optional parts are SCIM and
 * the queue of a producer. The stack of the app is built four times: with and without each optional part. The four
 * results are merged into one template, in which conditions select the parts. Some settings become parameters, which
 * the user sets at deployment.
 */
export function releaseTemplate(): JsonObject {
  const [full, withScim, withProducer, plain] = [
    build({ scim: true, producer: true }),
    build({ scim: true, producer: false }),
    build({ scim: false, producer: true }),
    build({ scim: false, producer: false }),
  ];
  const withAny = mergeTemplates(full, withProducer, 'ScimOn');
  const template = mergeTemplates(withAny, mergeTemplates(withScim, plain, 'ScimOn'), 'HasProducer');
  const { Description, Resources, ...rest } = template;
  return {
    AWSTemplateFormatVersion: '2010-09-09',
    Description: `groupsync ${VERSION}: keeps the groups of the Workforce Platform equal to the groups of the directory`,
    Metadata: { 'groupsync:version': VERSION },
    Conditions: CONDITIONS,
    ...rest,
    Resources: subscribeOnRequest(Resources as JsonObject),
  };
}

function build(parts: { readonly scim: boolean; readonly producer: boolean }): JsonObject {
  const { stages: _stages, ...flags } = cdkJson.context;
  const app = new App({ context: flags, analyticsReporting: false });
  const source = { connection: Fn.ref('ProducerConnection'), producers: [Fn.ref('ProducerArn')] };
  const stack = new ConnectorStack(app, 'groupsync', {
    settings: {
      ...readSettings({}),
      prefix: Fn.ref('Prefix'),
      alarmEmail: Fn.ref('AlarmEmail'),
      scim: parts.scim,
      sources: parts.producer ? { [SOURCE]: source } : {},
    },
    code: Object.fromEntries(
      DEPLOYABLE_KEYS.map((key): [string, Code] => [key, new ZippedCode(key)]),
    ) as Record<DeployableKey, Code>,
    // The cast is necessary, because the CDK's types contradict each other under exactOptionalPropertyTypes.
    synthesizer: new DefaultStackSynthesizer({ generateBootstrapVersionRule: false }) as IStackSynthesizer,
  });
  for (const [name, properties] of Object.entries(parameters())) new CfnParameter(stack, name, properties);
  const reason = 'every build has all parameters, including the parameters of missing optional parts';
  Validations.of(stack).acknowledge({ id: 'CloudFormation-Validate::W2001', reason });
  return Template.fromStack(stack).toJSON() as JsonObject;
}

/**
 * Returns the parameters of the template. A parameter for a setting has the default of this setting. Only the prefix
 * has a pattern, because other parties define the forms of ARNs, bucket names and addresses.
 */
function parameters(): Readonly<Record<string, CfnParameterProps>> {
  const { prefix, scim, alarmEmail } = readSettings({});
  const { pattern } = z
    .object({ pattern: z.string() })
    .parse(z.toJSONSchema(StageSettings.shape.prefix, { io: 'input' }));
  const text = (description: string, rest: CfnParameterProps = {}) => ({
    type: 'String',
    description,
    ...rest,
  });
  return {
    CodeBucket: text('Bucket in this region with the zip files of the release'),
    CodePrefix: text('Beginning of the keys of the zip files, such as groupsync/', { default: '' }),
    Prefix: text('First part of every name. Never change it later', {
      default: prefix,
      allowedPattern: pattern,
    }),
    AlarmEmail: text('Address that receives alarms; empty: none', { default: alarmEmail ?? '' }),
    ScimEnabled: text('Whether the stage has the SCIM endpoint', {
      default: String(scim),
      allowedValues: ['true', 'false'],
    }),
    ProducerArn: text('ARN of a role or user that sends events through a queue of its own; empty: none', {
      default: '',
    }),
    ProducerConnection: text('Connection of all events of this producer', { default: DEFAULT_CONNECTION }),
  };
}

/**
 * Adds the condition `HasAlarmEmail` to the e-mail subscription of the alarm topic. No other resource depends on the
 * alarm address.
 */
function subscribeOnRequest(resources: JsonObject): JsonObject {
  const isMail = (resource: Json) =>
    JSON.stringify(resource).startsWith('{"Type":"AWS::SNS::Subscription"') &&
    JSON.stringify(resource).includes('"email"');
  return Object.fromEntries(
    Object.entries(resources).map(([id, resource]) => [
      id,
      isMail(resource) ? { ...(resource as JsonObject), Condition: 'HasAlarmEmail' } : resource,
    ]),
  );
}

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** The fields of a resource or an output that the merge reads. */
interface Conditional {
  readonly [key: string]: Json;
}

const NO_VALUE = { Ref: 'AWS::NoValue' };

/** Fields of a resource that CloudFormation does not evaluate, so they cannot contain `Fn::If`. */
const NOT_EVALUATED = ['Type', 'DeletionPolicy', 'UpdateReplacePolicy', 'Condition', 'Metadata'];

/**
 * Merges two templates of one stack into one template with a condition. `on` is the template if the condition is true,
 * `off` if it is false. A resource or an output that is missing in `off` gets the condition. A property that differs
 * becomes `Fn::If`.
 * @throws Error for a difference that CloudFormation cannot express
 */
function mergeTemplates(on: JsonObject, off: JsonObject, condition: string): JsonObject {
  const sections = ['Resources', 'Outputs'].map((section) => [
    section,
    mergeSection(objectAt(on, section), objectAt(off, section), condition),
  ]);
  return { ...off, ...Object.fromEntries(sections) };
}

const objectAt = (template: JsonObject, key: string): JsonObject => (template[key] ?? {}) as JsonObject;

function mergeSection(on: JsonObject, off: JsonObject, condition: string): JsonObject {
  const extra = Object.keys(off).filter((id) => !(id in on));
  if (extra.length > 0)
    throw new Error(`expected no resource only without ${condition}, got ${extra.join(', ')}`);
  const entries = Object.entries(on).map(([id, given]) => {
    const withIt = given as Conditional;
    const without = off[id] as Conditional | undefined;
    if (without !== undefined) return [id, mergeResource(withIt, without, { id, condition })];
    if ('Condition' in withIt) throw new Error(`${id}: expected one condition, got ${condition} in addition`);
    return [id, { ...withIt, Condition: condition }];
  });
  return Object.fromEntries(entries);
}

function mergeResource(
  on: Conditional,
  off: Conditional,
  { id, condition }: { readonly id: string; readonly condition: string },
): Conditional {
  const fields = Object.entries(on).map(([field, value]) => {
    const other = off[field];
    if (isEqual(value, other)) return [field, value];
    if (NOT_EVALUATED.includes(field))
      throw new Error(`${id}.${field}: expected the same value with and without ${condition}`);
    // CloudFormation ignores a dependency on a resource whose condition is false.
    if (field === 'DependsOn') return [field, value];
    return [field, merge(value, other, condition)];
  });
  return Object.fromEntries(fields);
}

/** Returns the value of `on`, in which `Fn::If` replaces the smallest parts that differ from `off`. */
function merge(on: Json | undefined, off: Json | undefined, condition: string): Json {
  if (on !== undefined && isEqual(on, off)) return on;
  if (isPlainObject(on) && isPlainObject(off)) {
    const keys = new Set([...Object.keys(on), ...Object.keys(off)]);
    return Object.fromEntries([...keys].map((key) => [key, merge(on[key], off[key], condition)]));
  }
  return { 'Fn::If': [condition, on ?? NO_VALUE, off ?? NO_VALUE] };
}

/** True if the value is an object, but not a call of an intrinsic function. Calls are replaced as a whole. */
const isPlainObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !Object.keys(value).some((key) => key === 'Ref' || key.startsWith('Fn::'));

const isEqual = (a: Json | undefined, b: Json | undefined): boolean =>
  JSON.stringify(a) === JSON.stringify(b);
