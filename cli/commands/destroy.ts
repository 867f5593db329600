import type { Command } from 'commander';
import type { DeployedResource } from '../../shared/sync/ports/deployment.ts';
import type { Act, Context } from '../context.ts';
import { EXIT } from '../io.ts';
import { plural } from '../output/words.ts';
import { collected, examples } from './arguments.ts';
import { type OpenStage, SET, SETTINGS_HELP, STAGE, withStage } from './stage-options.ts';

export function addDestroy(program: Command, act: Act): void {
  program
    .command('destroy')
    .description('delete the stack of one stage; the table, its key and the audit copy stay')
    .option(...STAGE)
    .option(SET, 'a setting that the stage was deployed with, such as the region', collected, [])
    .option('--delete-data', 'delete the table and its key too; locked audit copies stay')
    .addHelpText('after', SETTINGS_HELP)
    .addHelpText(...examples('destroy --stage staging', 'destroy --stage staging --delete-data'))
    .action(act(destroy));
}

async function destroy(
  context: Context,
  { deleteData: losesData = false }: { readonly deleteData?: boolean },
  command: Command,
): Promise<number> {
  const fixed = losesData ? { retainData: 'false' } : {};
  return withStage(context, { command, fixed }, async (stage) => {
    const { resources } = stage.built;
    const stacks = await stage.cdk.stacks();
    const deployed = await stacks.read(stage.built.stack);
    if (deployed === undefined) return report(context, stage, 'absent');
    const kept = deployed.resources.filter(losesData ? staysAlways(resources) : ({ isKept }) => isKept);
    const deleted = deployed.resources.filter((resource) => !kept.includes(resource));
    printPlan(context.out, deleted, kept);
    if (!(await context.confirm(`Destroy ${stage.built.stack} in ${stage.where}?`)))
      return report(context, stage, 'refused', { deleted, kept });
    // The deployed template says which resources CloudFormation keeps. So the stage is first deployed with `retainData`
    // set to false. This deployment also ends the termination protection of the stack.
    if (losesData) {
      await stage.cdk.deploy({});
      await stage.cdk.protectTable(false);
    } else if (deployed.isProtected) await stacks.unprotect(stage.built.stack);
    await stage.cdk.destroy();
    context.out.note('the secrets of its connections stay in Secrets Manager: docs/deploy.md, "Remove"');
    return report(context, stage, 'destroyed', { deleted, kept });
  });
}

interface Affected {
  readonly deleted: readonly DeployedResource[];
  readonly kept: readonly DeployedResource[];
}

function report(
  { out }: Context,
  { built, where }: OpenStage,
  outcome: 'absent' | 'refused' | 'destroyed',
  { deleted, kept }: Affected = { deleted: [], kept: [] },
): number {
  const { stack, account, region } = built;
  const lines = {
    absent: `there is no stack ${stack} in ${where}`,
    refused: 'nothing was destroyed',
    destroyed: `destroyed ${stack}`,
  };
  const names = { deleted: deleted.map(nameOf), kept: kept.map(nameOf) };
  out.answer({ stack, account, region, ...names, destroyed: outcome === 'destroyed' }, () =>
    out.line(lines[outcome]),
  );
  return outcome === 'destroyed' ? EXIT.done : EXIT.failed;
}

/** Selects resources that stay even if `retainData` is false: the audit bucket, whose objects are locked. */
const staysAlways = (built: readonly DeployedResource[]) => {
  const data = new Set(built.filter(({ isKept }) => !isKept).map(({ id }) => id));
  return ({ id, isKept }: DeployedResource) => isKept && !data.has(id);
};

function printPlan(
  out: Context['out'],
  deleted: readonly DeployedResource[],
  kept: readonly DeployedResource[],
): void {
  out.note(`DELETED: ${plural(deleted.length, 'resource')}, with all messages in the queues`);
  for (const { type, id, isKept } of deleted) if (isKept) out.note(`DELETED with its data: ${type} ${id}`);
  for (const { type, id } of kept) out.note(`kept: ${type} ${id}`);
}

const nameOf = ({ type, id }: DeployedResource) => ({ type, resource: id });
