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
import { DEFAULT_CONNECTION } from '../shared/contract/names.ts';
import { VERSION } from '../shared/contract/version.ts';
import { ConnectorStack } from './connector-stack.ts';
import { DEPLOYABLE_KEYS, type DeployableKey } from './function-code.ts';
import { type Json, type JsonObject, mergeTemplates } from './merge-templates.ts';
import { readSettings, StageSettings } from './settings.ts';

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
      ...readSettings(() => undefined),
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
  const { prefix, scim, alarmEmail } = readSettings(() => undefined);
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
