import { allGroups } from '../../shared/operate/names.ts';
import { planningWith, refreshPeopleNow } from '../../shared/operate/people-now.ts';
import { sumOf } from '../../shared/operate/setting-effect.ts';
import { changeSettings, type SettingsPlan } from '../../shared/operate/settings.ts';
import type { Context } from '../context.ts';
import { plural, shellWord } from '../output/words.ts';
import { effectLines, effectOn, effectText } from './plan.ts';

/** Above this number of groups, no preview is shown, because planning thousands of groups takes minutes. */
const MAX_PREVIEWED = 500;

export async function previewChange(
  context: Context,
  plan: SettingsPlan,
  changes: readonly string[] = plan.changes.map(({ key, after }) => `${key}=${after}`),
) {
  const { out } = context;
  const { name } = plan.connection;
  const refs = await allGroups(name, await context.ports());
  const seeAll = `groupsync --connection ${name} plan ${changes.map((change) => `--with ${shellWord(change)}`).join(' ')}`;
  out.note(`every group will be planned again; to see the plan: ${seeAll}`);
  if (refs.length > MAX_PREVIEWED) return;
  const planning = async () => planningWith(plan, plan.effective, await context.ports());
  const effects = await effectOn(context, refs, planning);
  if (effects === undefined || refs.length === 0) return;
  const changed = `${effects.length} of ${plural(refs.length, 'group')} would change`;
  for (const line of await effectLines(context, effects, name)) out.note(line);
  out.note(`after this change ${changed}: ${effectText(sumOf(effects))}`);
}

export async function saveSettings({ out, ...context }: Context, plan: SettingsPlan) {
  const ports = await context.ports();
  const saved = await changeSettings(plan, ports, (meanwhile) => {
    for (const { key, before, after } of meanwhile)
      out.note(`another operator changed ${key} in the meantime (${before} → ${after}); their value is kept`);
  });
  if (plan.needsPeople) {
    out.note('reading employees for the new match rules …');
    await refreshPeopleNow(plan.connection.name, ports);
  }
  return saved;
}
