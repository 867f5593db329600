import { resourcesOf, synthesise } from '../../test/infra/synthesised.ts';

export const FUNCTIONS = ['ingest', 'apply', 'reconcile', 'people'] as const;
export type FunctionName = (typeof FUNCTIONS)[number];

/** The limits of a function in the template. `maxConcurrency` is undefined if only the account has a limit. */
export interface Limits {
  readonly seconds: number;
  readonly memoryGb: number;
  readonly maxConcurrency: number | undefined;
}

export function limitsOfFunctions(): Readonly<Record<FunctionName, Limits>> {
  const { template } = synthesise();
  const mappings = Object.values(resourcesOf(template, 'AWS::Lambda::EventSourceMapping'));
  const functions = Object.entries(resourcesOf(template, 'AWS::Lambda::Function'));
  const limits = FUNCTIONS.map((name) => {
    const [id, one] =
      functions.find(([, { Properties }]) => Properties.FunctionName.endsWith(`-${name}`)) ?? [];
    if (one === undefined) throw new Error(`the template has no function ${name}`);
    const { Timeout, MemorySize, ReservedConcurrentExecutions: reserved } = one.Properties;
    const fed = mappings.find(({ Properties }) => Properties.FunctionName.Ref === id)?.Properties;
    const maxConcurrency: number | undefined = reserved ?? fed?.ScalingConfig.MaximumConcurrency;
    return [name, { seconds: Timeout, memoryGb: MemorySize / 1_024, maxConcurrency }];
  });
  return Object.fromEntries(limits);
}
