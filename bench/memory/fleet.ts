import { contentDigest } from '../../shared/domain/content-digest.ts';
import { connectionName, groupId, memberId, roleId } from '../../shared/domain/ids.ts';
import { boundMemberItem, claimKey, groupKey, IN_SYNC, personKey, placed } from '../../shared/store/keys.ts';
import type { Attributes, Item } from '../../shared/store/table.ts';
import type { HeldGroup, SimulatedPlatform } from '../../simulate/platform/platform.ts';
import type { Chain } from './chain.ts';

/** The number of users in a group of the large company. */
const LARGE_GROUP_USERS = 100;

const hold = (platform: SimulatedPlatform, group: HeldGroup) =>
  (platform.groups as Map<string, HeldGroup>).set(group.id, group);

const renamed = <Value>(value: Value, from: string, to: string): Value =>
  JSON.parse(JSON.stringify(value).replaceAll(from, to)) as Value;

const claimOf = (name: string, platformId: string, group: string): Item => ({
  ...claimKey(name, platformId),
  platformId,
  connection: name,
  group,
});

/**
 * Returns the items of a company in sync that the scheduled jobs read: people, bindings, groups and claims. No job reads
 * members and their users, so they are left out.
 */
function itemsOfJobs({ table }: Chain, name: string): readonly Item[] {
  const isRead = ({ pk, sk }: Item) =>
    (pk.startsWith(`R#${name}#`) || sk === 'GROUP') && pk.includes(`#${name}#`);
  return [...table.items.values()].filter(isRead);
}

/** Creates functions that connect copies of the company `model`, which has synced its groups. */
export function copier(chain: Chain, model: string) {
  const { companies, table } = chain;
  const items = itemsOfJobs(chain, model);
  const groups = [...(companies.get(model)?.platform.groups.values() ?? [])];
  const [person, group] = [items.find(({ sk }) => sk === 'PERSON'), items.find(({ sk }) => sk === 'GROUP')];
  if (person === undefined || group === undefined) throw new Error('expected a person and a group to copy');
  return {
    async copy(name: string, different: Partial<Parameters<Chain['connect']>[0]> = {}): Promise<void> {
      const people = companies.get(model)?.people ?? 0;
      const platform = await chain.connect({ name, people, ...different });
      for (const item of items) table.store(renamed(item, model, name));
      for (const one of groups) {
        const copied = renamed(one, model, name);
        hold(platform, copied);
        table.store(claimOf(name, copied.id, copied.spokeId ?? ''));
      }
    },
    /** Connects a company with many people. Each person has one membership of each group that its number names. */
    async createLarge(name: string, people: number, memberships: number): Promise<void> {
      const connection = connectionName(name);
      const platform = await chain.connect({ name, people });
      for (let n = 0; n < people; n += 1) {
        const role = roleId(`r${n}`);
        const values = { workEmail: `p${n}@bench.test` };
        table.store({ ...person, ...personKey(connection, role), role, userId: `u${n}`, values });
        table.store(boundMemberItem(connection, role, memberId(`m${n}`)));
      }
      for (let n = 0; n < memberships / LARGE_GROUP_USERS; n += 1) {
        const ref = { connection, group: groupId(`d${n}`) };
        const users = Array.from(
          { length: LARGE_GROUP_USERS },
          (_, at) => `u${(n * LARGE_GROUP_USERS + at) % people}`,
        );
        const shown = { name: `Group d${n}`, spokeId: ref.group as string };
        const { id, version } = platform.seed({ ...shown, users });
        const view = {
          ...((group['link'] as Attributes)['view'] as Attributes),
          size: users.length,
          digest: contentDigest({ ...shown, users }),
          text: [encodeURIComponent(shown.name), `=${ref.group}`, ...users.map((user) => `+${user}`)].join(
            '\n',
          ),
        };
        table.store({
          ...group,
          ...groupKey(ref),
          ...placed(ref, IN_SYNC),
          group: ref.group,
          name: { ...(group['name'] as Attributes), value: shown.name },
          link: { ...(group['link'] as Attributes), id, version, view },
        });
        table.store(claimOf(name, id, ref.group));
      }
    },
  };
}
