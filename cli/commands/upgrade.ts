import type { Command } from 'commander';
import type { UpgradeReport } from '../../shared/contract/answers/status.ts';
import { RELEASE_OUTPUTS, RELEASES } from '../../shared/contract/releases.ts';
import { compareReleases } from '../../shared/operate/upgrade.ts';
import type { Act, Context } from '../context.ts';
import { EXIT, UsageError } from '../io.ts';
import { examples } from './arguments.ts';

export function addUpgrade(program: Command, act: Act): void {
  program
    .command('upgrade')
    .description('compare the deployed version with the installed one; "groupsync deploy" upgrades')
    .option('--check', 'only compare, and change nothing')
    .addHelpText(...examples('upgrade --check', 'upgrade --check --json'))
    .action(act(upgrade));
}

async function upgrade({ out, prefix, ports }: Context, { check }: { readonly check?: boolean }) {
  if (check !== true)
    throw new UsageError('upgrade: expected --check; "groupsync deploy" upgrades the stage');
  const { stacks, region } = (await ports()).deployment;
  if (stacks === undefined) throw new UsageError('--local: the local stack is not deployed');
  const stack = await stacks.read(prefix);
  if (stack === undefined) throw new Error(`there is no stack ${prefix} in ${region}`);
  const { [RELEASE_OUTPUTS.version]: deployed, [RELEASE_OUTPUTS.oldestReader]: oldestReader } = stack.outputs;
  const report = compareReleases({ deployed, oldestReader }, RELEASES);
  out.answer(report, () => {
    for (const line of linesOf(report)) out.line(line);
  });
  const isSafe =
    report.canReadData === true && report.canRollBack === true && report.settingsRemoved.length === 0;
  return isSafe ? EXIT.done : EXIT.attention;
}

function linesOf(report: UpgradeReport): readonly string[] {
  const { deployed, installed, direction } = report;
  if (deployed === null)
    return [
      `deployed: a version that the stack does not name; installed: ${installed}`,
      'nothing can be compared',
    ];
  const lines = [`deployed: ${deployed}; installed: ${installed} (${direction})`];
  for (const change of report.storedForms) lines.push(`stored data changes: ${change}`);
  for (const name of report.settingsAdded) lines.push(`new setting: ${name}`);
  for (const name of report.settingsRemoved)
    lines.push(`REMOVED setting: ${name}; delete it from groupsync.json`);
  if (report.canReadData === false)
    lines.push(`version ${installed} cannot read the data of ${deployed}; do not deploy it`);
  else if (direction === 'upgrade')
    lines.push(
      report.canRollBack === true
        ? `rolling back to ${deployed} is possible after the upgrade`
        : `after the upgrade, ${deployed} CANNOT read the data; rolling back needs a restored table`,
    );
  return lines;
}
