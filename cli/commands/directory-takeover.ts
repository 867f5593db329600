import type { TakeoverPlan } from '../../shared/contract/answers.ts';
import { planTakeover, takeOverGroups } from '../../shared/operate/directory/takeover.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../io.ts';
import { plural } from '../output/words.ts';
import { chosenDirectory, withHint } from './directory-source.ts';
import type { DirectoryOptions } from './directory-vendors.ts';

export interface TakeoverOptions extends DirectoryOptions {
  readonly dryRun?: boolean;
}

/** After confirmation, moves the groups of other sources to the reader. */
export async function takeover(context: Context, options: TakeoverOptions): Promise<number> {
  const { out } = context;
  const { connection, kind, directory, ports } = await chosenDirectory(context, options);
  const plan = await withHint(planTakeover(connection, directory, ports), kind);
  const { groups, unmapped } = plan;
  const unchanged = { connection: connection.name, observing: connection.observing, ...plan, busy: [] };
  if (groups.length === 0 || options.dryRun === true) {
    out.answer(unchanged, () => printPlan(context, plan));
    return unmapped.length > 0 ? EXIT.attention : EXIT.done;
  }
  // These lines are notes, because with --json standard output contains the final report.
  for (const line of linesOf(plan)) out.note(line);
  const question = `Take over ${plural(groups.length, 'group')}? Nothing is written until \`groupsync resume\`.`;
  if (!(await context.confirm(question))) return EXIT.failed;
  const current = await ports.connections.current(connection.name);
  const report = await takeOverGroups(current ?? connection, plan, ports);
  out.answer(report, () => {
    out.line(`${plural(groups.length - report.busy.length, 'group')} taken over; the connection observes`);
    for (const group of report.busy) out.line(`${group}: a write does not end; run the command again`);
  });
  const isConnected = connection.settings.directory !== null && options.directory === undefined;
  out.note(
    isConnected
      ? 'next: groupsync directory read'
      : `next: groupsync connect ${connection.name} --directory … with the same options`,
  );
  return report.busy.length + unmapped.length > 0 ? EXIT.attention : EXIT.done;
}

const BY = {
  id: 'the same id',
  externalId: 'external id',
  name: 'the same name',
  earlier: 'an earlier takeover',
} as const;

function printPlan({ out }: Context, plan: TakeoverPlan): void {
  if (plan.groups.length === 0) out.line('no group of another source is in the directory');
  for (const line of linesOf(plan)) out.line(line);
}

function linesOf({ groups, unmapped }: TakeoverPlan): readonly string[] {
  const lines = groups.map(
    ({ group, name, directoryGroup, by }) => `${name ?? group} (${group}) → ${directoryGroup}: ${BY[by]}`,
  );
  for (const { group, name } of unmapped)
    lines.push(`${name ?? group} (${group}): the directory has no such group`);
  if (unmapped.length > 0) lines.push('rename it in the directory, or release it: groupsync release GROUP');
  return lines;
}
