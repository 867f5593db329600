import { StageSettings } from '../../../infra/settings.ts';
import { METRICS } from '../../../shared/contract/metrics.ts';
import { ENVIRONMENT, METRIC_NAMESPACE } from '../../../shared/contract/names.ts';
import { everyResourceOf, synthesise } from '../../infra/synthesised.ts';
import { namesOfForm } from './walk.ts';

/** The settings of a stage with every optional resource. */
const FULL = {
  scim: true,
  directory: true,
  auditExportDays: 400,
  sources: { hr: { connection: 'acme', producers: [] } },
  notify: ['alarms'],
  dashboard: true,
};

/** For each type of resource, the property with the name of the resource. */
const NAMED: Readonly<Record<string, string>> = {
  'AWS::SQS::Queue': 'QueueName',
  'AWS::DynamoDB::Table': 'TableName',
  'AWS::DynamoDB::GlobalTable': 'TableName',
  'AWS::Lambda::Function': 'FunctionName',
};

export function deployedNames() {
  const { template } = synthesise(FULL);
  const resources = Object.values(everyResourceOf(template));
  return {
    'cdk -c keys': ['stage', 'stages', ...namesOfForm(StageSettings)],
    'stack outputs': Object.keys(template.toJSON()['Outputs'] ?? {}),
    'queues, tables and functions': resources.flatMap(({ Type, Properties }) => {
      const name = Properties?.[NAMED[Type] ?? ''];
      return typeof name === 'string' ? [`${Type} ${name}`] : [];
    }),
    'environment variables': [
      ...Object.values(ENVIRONMENT),
      ...resources.flatMap(({ Properties }) => Object.keys(Properties?.Environment?.Variables ?? {})),
    ],
    metrics: METRICS.map((name) => `${METRIC_NAMESPACE} ${name} (Count)`),
  };
}
