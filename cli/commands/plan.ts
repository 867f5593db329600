import type { Command } from 'commander';
import type { SyncReport } from '../../shared/contract/answers/groups.ts';
import type { PlanEffect } from '../../shared/contract/answers/reconcile.ts';
import type { GroupRef } from '../../shared/domain/ids.ts';
import { syncGroups } from '../../shared/operate/follow.ts';
import { recordRead } from '../../shared/operate/journal.ts';
import { allGroups, type Named, type Names } from '../../shared/operate/names.ts';
import { type Planning, planningWith } from '../../shared/operate/people-now.ts';
import {
  countsOfEffect,
  effectsOf,
  type GroupEffect,
  membersNamed,
} from '../../shared/operate/setting-effect.ts';
import { planSettings } from '../../shared/operate/settings.ts';
import { formatWaiting } from '../../shared/operate/status.ts';
import { type GroupPlan, planGroup } from '../../shared/sync/apply/plan-group.ts';
import type { ToolPorts } from '../../shared/sync/ports/bundles.ts';
import { PlatformFailure } from '../../shared/sync/ports/platform.ts';
import { mapConcurrently } from '../../shared/sync/tuning.ts';
import type { Act, Context } from '../context.ts';
import { EXIT, Stopped, UsageError } from '../io.ts';
import { clashLines } from '../output/clashes.ts';
import type { Output } from '../output/output.ts';
import { plural, shellWords, visible } from '../output/words.ts';
import { collected, examples, seconds, settingChange } from './arguments.ts';
import { noteObstacle } from './follow.ts';

export function addPlan(program: Command, act: Act): void {
  program
    .command('plan')
    .description('show the next writes to the platform, member by member; changes nothing')
    .argument('[groups...]', 'ids or names (default: all groups)')
    .option('--with <key=value>', 'plan with this setting; repeatable', collected, [])
    .addHelpText(...examples('plan 00g1 --json', 'plan --with mode=additive --with guard=null'))
    .action(
      act(async (context, groups: string[], { with: changes }: { with: string[] }) => {
        const ports = await context.ports();
        const planned = await planSettings(context.connection, changes.map(settingChange), ports);
        const refs = await chosen(context, groups);
        const plans = await planAll(context, refs, await planningWith(planned, planned.next, ports));
        await recordRead(
          context.connection,
          { what: 'plan', group: groups.length === 1 ? refs[0]?.group : undefined },
          ports,
        );
        const names = await context.names(namedIn(plans));
        const { out } = context;
        out.answer({ plans }, () =>
          plans.length === 0 ? out.line('no groups') : showPlans(plans, out, names),
        );
        return EXIT.done;
      }),
    );
  program
    .command('sync')
    .description('sync groups now, and wait for completion')
    .argument('[groups...]', 'ids or names')
    .option('--all', 'every group of the connection')
    .option('--timeout <seconds>', 'how long to wait', seconds, 120)
    .addHelpText(...examples('sync 00g1', 'sync --all --yes --json'))
    .action(act(sync));
}

async function chosen(context: Context, groups: readonly string[]): Promise<readonly GroupRef[]> {
  const { ports } = await context.connected();
  return groups.length === 0 ? allGroups(context.connection, ports) : Promise.all(groups.map(context.group));
}

const PLANS_AT_ONCE = 8;

type Planned = Partial<Planning<ToolPorts>>;

/** @param given settings and ports that replace the settings and ports of the connection */
async function planAll(
  context: Context,
  refs: readonly GroupRef[],
  { settings, ports: given }: Planned = {},
) {
  const ports = given ?? (await context.ports());
  const progress = context.out.progress('planning');
  let done = 0;
  const planOne = async (ref: GroupRef) => {
    if (context.io.signal.aborted) throw new Stopped();
    const plan = await planGroup(ref, ports, settings);
    done += 1;
    progress.show(done, refs.length);
    return plan;
  };
  return mapConcurrently(PLANS_AT_ONCE, refs, planOne).finally(progress.end);
}

async function sync(
  context: Context,
  groups: readonly string[],
  options: { all?: boolean; timeout: number },
): Promise<number> {
  const { out, io } = context;
  if (groups.length === 0 && options.all !== true) throw new UsageError('expected groups or --all');
  if (groups.length > 0 && options.all === true) throw new UsageError('expected groups or --all, not both');
  const refs = await chosen(context, groups);
  if (!context.yes) {
    const plans = await unlessPlatformFails(context, [], () => planAll(context, refs));
    showPlans(plans, out, await context.names(namedIn(plans)), out.note);
    if (!(await context.confirm(`Sync ${plural(refs.length, 'group')}?`))) return EXIT.failed;
  }
  const progress = out.progress('syncing');
  const report = await syncGroups(refs, await context.ports(), {
    timeoutMs: options.timeout * 1_000,
    signal: io.signal,
    onWaiting: (group, waiting) => out.note(`${group} is ${formatWaiting(waiting)}`),
    onProgress: progress.show,
  }).finally(progress.end);
  const names = await context.names({ groups: report.synced.map(({ group }) => group) });
  out.answer(report, () => printSynced(report, names, context));
  if (report.stopped !== null) await noteObstacle(context);
  const isDone = report.stopped === null && report.synced.every(({ state }) => SETTLED.has(state));
  return isDone ? EXIT.done : EXIT.attention;
}

function printSynced({ synced, stopped }: SyncReport, names: Names, { out }: Context): void {
  out.table(
    synced,
    [
      { title: 'group', of: ({ group }) => names.group(group), whole: 'id' },
      { title: 'state', of: ({ state }) => state },
      { title: 'version', of: ({ version }) => version },
      { title: 'last error', of: ({ lastError }) => lastError },
    ],
    'no groups',
  );
  if (stopped !== null) out.line(out.paint.red(`stopped waiting: ${stopped}`));
}

async function unlessPlatformFails<Result>({ out }: Context, otherwise: Result, plan: () => Promise<Result>) {
  return plan().catch((cause: unknown) => {
    if (!(cause instanceof PlatformFailure)) throw cause;
    out.note(`the effect cannot be planned: ${cause.message}`);
    return otherwise;
  });
}

export const effectOn = (context: Context, refs: readonly GroupRef[], planning: () => Promise<Planned>) =>
  unlessPlatformFails(context, undefined, async () => {
    const before = await planAll(context, refs);
    return effectsOf(before, await planAll(context, refs, await planning()));
  });

/** Example: "1 added, 0 removed, 2 held; 1 planned change would not be made" */
export function effectText({ added, removed, held, dropped }: Omit<PlanEffect, 'groups'>): string {
  const gone = dropped === 0 ? '' : `; ${plural(dropped, 'planned change')} would not be made`;
  return `${added} added, ${removed} removed, ${held} held${gone}`;
}

export async function effectLines(
  context: Context,
  effects: readonly GroupEffect[],
  connection = context.connection,
) {
  const ports = await context.ports();
  const names = await context.names({ groups: effects.map(({ group }) => group) }, connection);
  const lines = effects
    .slice(0, SHOWN)
    .map(async (effect) => [
      `${names.group(effect.group)}: ${effectText(countsOfEffect(effect))}`,
      ...(await membersNamed(effect, connection, ports)).map((line) => `  ${line}`),
    ]);
  await recordRead(connection, { what: 'plan', group: undefined }, ports);
  return (await Promise.all(lines)).flat();
}

const SETTLED = new Set(['in_sync', 'deleted', 'unknown', 'excluded']);

const SHOWN = 50;

const namedIn = (plans: readonly GroupPlan[]): Named => {
  const withContent = plans.filter(hasContent);
  return {
    groups: withContent.map(({ group }) => group),
    members: withContent.flatMap(({ changes }) =>
      changes.slice(0, SHOWN).flatMap(({ member }) => member ?? []),
    ),
    usersOf: withContent
      .filter(({ action, changes }) => action === 'hold' || changes.some(isUnnamed))
      .map(({ group }) => group),
  };
};

const isUnnamed = ({ kind, member }: GroupPlan['changes'][number]): boolean =>
  member == null && kind.endsWith('_member');
const hasContent = ({ action, note, waiting }: GroupPlan): boolean =>
  action !== 'none' || note !== null || waiting !== null;

function showPlans(
  plans: readonly GroupPlan[],
  out: Output,
  names: Names,
  write: (text: string) => void = out.line,
): void {
  const withContent = plans.filter(hasContent);
  for (const plan of withContent) for (const line of linesOf(plan, names, out)) write(line);
  if (withContent.some(({ clashes }) => clashes.length > 0))
    write('to compare the existing groups and adopt several: groupsync platform-groups');
  const unchanged = plans.length - withContent.length;
  if (unchanged > 0) write(out.paint.dim(`${unchanged} of ${plural(plans.length, 'group')}: nothing to do`));
}

function* linesOf(plan: GroupPlan, names: Names, { paint }: Output): Generator<string> {
  const { group, action, changes, held, hold, note, waiting, clashes } = plan;
  yield `${paint.bold(names.group(group))}  ${action}`;
  for (const change of changes.slice(0, SHOWN)) {
    const isRemoval = change.after === null;
    const line = `  ${isRemoval ? '-' : '+'} ${change.kind} ${formatChange(change, names)}`;
    yield isRemoval ? paint.red(line) : paint.green(line);
    yield paint.dim(`      ${change.reason}`);
  }
  if (changes.length > SHOWN) yield `  … and ${changes.length - SHOWN} more changes`;
  if (action !== 'hold' && held.length > 0) yield `  ${plural(held.length, 'removal')} held by the guard`;
  if (hold !== null) yield `  next: groupsync holds show ${shellWords(group)}`;
  for (const line of clashLines(clashes.map((one) => ({ ...one, group })))) yield `  ${paint.bold(line)}`;
  if (waiting !== null) yield `  ${formatWaiting(waiting)}`;
  if (note !== null) yield paint.dim(`  ${note}`);
}

function formatChange(change: GroupPlan['changes'][number], names: Names): string {
  const { before, after, member } = change;
  if (isUnnamed(change)) return names.user(after ?? before ?? '');
  const value = before !== null && after !== null ? `${before} → ${after}` : (after ?? before ?? '');
  return member == null ? visible(value) : `${names.member(member)} as ${value}`;
}
