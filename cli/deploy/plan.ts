/** What a deployment does with one resource. `replace` creates a new resource and deletes the old resource. */
export const PLAN_ACTIONS = [
  'delete',
  'replace',
  'may replace',
  'leave',
  'import',
  'change',
  'create',
] as const;
type PlanAction = (typeof PLAN_ACTIONS)[number];

interface PlannedChange {
  readonly action: PlanAction;
  /** CloudFormation type, such as `AWS::SQS::Queue`. */
  readonly type: string;
  /** Path in the app and logical id, as the CDK prints them. */
  readonly resource: string;
}

export type DeploymentPlan = ReturnType<typeof parseDiff>;

/** A resource in the output of `cdk diff` (package @aws-cdk/cloudformation-diff, `formatResourceDifference`). */
const RESOURCE =
  /^\[([+~-]|←)\] ((?:AWS|Custom|Alexa)::\S+) (.+?)(?: (may be replaced|replace|destroy|orphan|import))?$/;

/**
 * The action for each impact that the CDK prints. The sign alone is ambiguous: a resource with a minus is deleted, or
 * it leaves the stack and stays in the account.
 */
const BY_IMPACT: Readonly<Record<string, PlanAction>> = {
  'may be replaced': 'may replace',
  replace: 'replace',
  destroy: 'delete',
  orphan: 'leave',
  import: 'import',
};
const BY_SIGN: Readonly<Record<string, PlanAction>> = {
  '+': 'create',
  '~': 'change',
  '-': 'delete',
  '←': 'import',
};

export function parseDiff(lines: readonly string[]) {
  const counted = lines.map((line) => /Number of stacks with differences: (\d+)/.exec(line)?.[1]);
  const differing = counted.find((count) => count !== undefined);
  if (differing === undefined)
    throw new Error(
      `expected the number of stacks with differences from cdk diff, got "${lines.at(-1) ?? ''}"`,
    );
  const changes = lines.flatMap((line) => {
    const [, sign, type, resource, impact] = RESOURCE.exec(line) ?? [];
    if (sign === undefined || type === undefined || resource === undefined) return [];
    const action = BY_IMPACT[impact ?? ''] ?? BY_SIGN[sign] ?? 'change';
    return [{ action, type, resource }];
  });
  const rows = (sign: string) => lines.filter((line) => line.startsWith(`│ ${sign} │`)).length;
  return {
    changes: changes.sort((a, b) => PLAN_ACTIONS.indexOf(a.action) - PLAN_ACTIONS.indexOf(b.action)),
    /** The number of lines in the CDK's tables of permissions (IAM statements and policies). */
    permissions: { added: rows('+'), removed: rows('-') },
    /** True if anything in the template differs, even if only an output. */
    differs: differing !== '0',
  };
}

/** Types of resources whose deletion or replacement loses data or messages. */
const HOLDS_DATA = /^AWS::(?:DynamoDB::|SQS::Queue$|KMS::Key$|S3::Bucket$)/;

const WORDS: Readonly<Record<PlanAction, string>> = {
  delete: 'DELETED',
  replace: 'REPLACED',
  'may replace': 'may be replaced',
  leave: 'leaves the stack, is not deleted',
  import: 'imported',
  change: 'changed',
  create: 'created',
};

/**
 * Maximum number of resources that are listed for one action. Above this number, the plan shows a count for each type.
 * Resources that are deleted, replaced or may be replaced are always listed.
 */
const MAX_LISTED = 25;

/** Returns the plan as lines for the operator. Deleted resources come first. */
export function planLines({ changes, permissions, differs }: DeploymentPlan): readonly string[] {
  if (!differs) return ['no change: the stack is as the settings describe it'];
  const lines = PLAN_ACTIONS.flatMap((action) => linesOf(action, changes));
  const { added, removed } = permissions;
  if (changes.length === 0) lines.push('only outputs, parameters or descriptions of the template change');
  if (added + removed > 0)
    lines.push(`permissions: ${added} added, ${removed} removed (--details shows them)`);
  const lost = changes.filter(
    ({ action, type }) => /^(?:delete|replace)$/.test(action) && HOLDS_DATA.test(type),
  );
  if (lost.length > 0)
    lines.push(`their data and messages are LOST: ${lost.map(({ resource }) => resource).join(', ')}`);
  return lines;
}

function linesOf(action: PlanAction, changes: readonly PlannedChange[]): string[] {
  const affected = changes.filter((change) => change.action === action);
  const isListed = affected.length <= MAX_LISTED || ['delete', 'replace', 'may replace'].includes(action);
  if (isListed) return affected.map(({ type, resource }) => `${WORDS[action]}: ${type} ${resource}`);
  const counts = new Map<string, number>();
  for (const { type } of affected) counts.set(type, (counts.get(type) ?? 0) + 1);
  const types = [...counts].map(([type, count]) => `${count} ${type}`);
  return [`${WORDS[action]}: ${affected.length} resources: ${types.join(', ')}`];
}

export function planSummary({ changes }: DeploymentPlan): string {
  const counts = PLAN_ACTIONS.flatMap((action) => {
    const count = changes.filter((change) => change.action === action).length;
    return count === 0 ? [] : [`${count} ${WORDS[action]}`];
  });
  return counts.join(', ') || 'no resource changed';
}
