import type { Command } from 'commander';
import type { Act, Context } from '../context.ts';
import { type DeploymentPlan, parseDiff, planLines, planSummary } from '../deploy/plan.ts';
import { EXIT } from '../io.ts';
import { collected, examples } from './arguments.ts';
import { type OpenStage, SET, SETTINGS_HELP, STAGE, withStage } from './stage-options.ts';

interface DeployOptions {
  readonly bootstrap?: boolean;
  readonly details?: boolean;
  readonly dryRun?: boolean;
  readonly revertDrift?: boolean;
  readonly importExistingResources?: boolean;
}

export function addDeploy(program: Command, act: Act): void {
  program
    .command('deploy')
    .description('deploy or upgrade one stage on AWS: print the plan, ask, then change the stack')
    .option(...STAGE)
    .option(SET, 'a setting for this deployment only; repeat it for more settings', collected, [])
    .option('--bootstrap', 'first create the bucket and roles of the CDK, once per account and region')
    .option('--details', 'print the whole comparison, with permissions and properties')
    .option('--revert-drift', 'print changes that were made by hand to deployed resources, and undo them')
    .option('--import-existing-resources', 'take over the table that an earlier stack has kept')
    .option('--dry-run', 'print the plan, and change nothing')
    .addHelpText('after', SETTINGS_HELP)
    .addHelpText(...examples('deploy --stage staging', 'deploy --set alarmEmail=ops@example.com --dry-run'))
    .action(act(deploy));
}

async function deploy(context: Context, options: DeployOptions, command: Command): Promise<number> {
  const { out } = context;
  return withStage(context, { command }, async (stage) => {
    if (!(await bootstrap(context, options, stage))) return EXIT.failed;
    const plan = await readPlan(out, options, stage);
    const hasWork = plan.differs || options.revertDrift === true;
    const isFinished = !hasWork || options.dryRun === true;
    const isDeployed = !isFinished && (await apply(context, options, stage, plan));
    report(out, { stage, plan, isDeployed });
    return isFinished || isDeployed ? EXIT.done : EXIT.failed;
  });
}

async function bootstrap(context: Context, options: DeployOptions, { cdk, where }: OpenStage) {
  if (options.bootstrap !== true || options.dryRun === true) return true;
  if (!(await context.confirm(`Create the bucket and the roles of the CDK in ${where}?`))) return false;
  await cdk.bootstrap();
  return true;
}

async function readPlan(out: Context['out'], options: DeployOptions, { cdk }: OpenStage) {
  const lines = await cdk.diff({ importExisting: options.importExistingResources });
  const plan = parseDiff(lines);
  const drift = options.revertDrift === true ? await cdk.drift() : [];
  for (const line of [...(options.details === true ? lines : []), ...planLines(plan), ...drift])
    out.note(line);
  return plan;
}

/** Changes the stack after the operator confirms. @returns false if the operator refuses */
async function apply(
  context: Context,
  { revertDrift, importExistingResources: importExisting }: DeployOptions,
  { cdk, built, where }: OpenStage,
  plan: DeploymentPlan,
): Promise<boolean> {
  if (!(await context.confirm(`Deploy ${built.stack} in ${where} (${planSummary(plan)})?`))) return false;
  await cdk.deploy({ revertDrift, importExisting });
  await protect(context, { cdk, built });
  return true;
}

/** A table that stays when the stack is deleted is also protected against `dynamodb:DeleteTable`. */
async function protect({ out }: Context, { cdk, built }: Pick<OpenStage, 'cdk' | 'built'>): Promise<void> {
  const isKept = built.resources.some(({ type, isKept }) => type === 'AWS::DynamoDB::Table' && isKept);
  await cdk.protectTable(isKept).catch((error: Error) => {
    out.note(
      `warning: the deletion protection of the table was not changed: ${error.name}: ${error.message}`,
    );
  });
}

function report(
  out: Context['out'],
  done: { readonly stage: OpenStage; readonly plan: DeploymentPlan; readonly isDeployed: boolean },
): void {
  const { stack, account, region } = done.stage.built;
  const { changes, permissions } = done.plan;
  out.answer({ stack, account, region, changes, permissions, deployed: done.isDeployed }, () =>
    out.line(done.isDeployed ? `deployed ${stack}: ${planSummary(done.plan)}` : 'nothing was deployed'),
  );
  if (done.isDeployed) out.note('next: groupsync doctor');
}
