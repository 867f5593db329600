import type { AdoptedPair, AdoptionPlan } from '../../contract/answers.ts';
import { renderName } from '../../contract/name-template.ts';
import { groupExists, groupName } from '../../domain/group.ts';
import { namedLike } from '../../plan/names.ts';
import type { InspectInput, InspectPorts } from './input.ts';

type Listed = { readonly id: string; readonly name: string; readonly spokeId: string | null };

export async function planAdoption(
  { name: connection, settings }: InspectInput,
  listed: readonly Listed[],
  { index, groups }: InspectPorts,
): Promise<AdoptionPlan> {
  const plan = { existing: listed.length, directory: 0, bySpokeId: [], byName: [] } as {
    existing: number;
    directory: number;
    bySpokeId: AdoptedPair[];
    byName: AdoptedPair[];
  };
  for await (const page of index.all(connection)) {
    for (const { ref } of page) {
      const state = await groups.read(ref);
      const named = state && groupExists(state.registers) ? groupName(state.registers) : undefined;
      if (state === undefined || named === undefined) continue;
      plan.directory += 1;
      if (state.platformId !== undefined) continue;
      const name = renderName(settings.nameTemplate, { name: named, id: ref.group, connection });
      const found = candidateFor(ref.group, name, listed);
      if (found !== undefined) plan[found.by].push(found.pair);
    }
  }
  return plan;
}

function candidateFor(group: string, name: string, listed: readonly Listed[]) {
  const pairWith = ({ id, name: shown }: Listed): AdoptedPair => ({ group, name: shown, platformId: id });
  const carrying = listed.find(({ spokeId }) => spokeId === group);
  if (carrying !== undefined) return { by: 'bySpokeId' as const, pair: pairWith(carrying) };
  const [only, ...others] = namedLike(listed, name);
  return only === undefined || others.length > 0
    ? undefined
    : { by: 'byName' as const, pair: pairWith(only) };
}
