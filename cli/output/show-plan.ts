import type { GroupPlan } from '../../shared/sync/apply/preview.ts';
import type { Output } from './output.ts';

/** Changes of one plan that are listed before the rest is only counted. */
const SHOWN = 50;

/** Plans for people: one line per change, with its reason. */
export function showPlans(
  plans: readonly GroupPlan[],
  out: Output,
  write: (text: string) => void = out.line,
): void {
  const busy = plans.filter(({ action, note }) => action !== 'none' || note !== null);
  for (const plan of busy) for (const line of linesOf(plan, out)) write(line);
  const quiet = plans.length - busy.length;
  if (quiet > 0) write(out.paint.dim(`${quiet} of ${plans.length} groups: nothing to do`));
}

function* linesOf(plan: GroupPlan, { paint }: Output): Generator<string> {
  const { group, action, changes, held, hold, note } = plan;
  yield `${paint.bold(group)}  ${action}`;
  for (const change of changes.slice(0, SHOWN)) {
    const isRemoval = change.after === null;
    const line = `  ${isRemoval ? '-' : '+'} ${change.kind} ${sayChange(change)}`;
    yield isRemoval ? paint.red(line) : paint.green(line);
    yield paint.dim(`      ${change.reason}`);
  }
  if (changes.length > SHOWN) yield `  … and ${changes.length - SHOWN} more changes`;
  if (action !== 'hold' && held.length > 0) yield `  ${held.length} removals are held by the guard`;
  if (hold !== null)
    yield `  next: groupsync holds approve ${group} --reason … --digest ${hold.digest.slice(0, 12)}`;
  if (note !== null) yield paint.dim(`  ${note}`);
}

function sayChange({ before, after, member }: GroupPlan['changes'][number]): string {
  const who = member == null ? '' : ` (${member})`;
  return before !== null && after !== null ? `${before} → ${after}${who}` : `${after ?? before ?? ''}${who}`;
}
