import { type Command, Option } from 'commander';
import {
  PLATFORM_GROUP_STATES,
  type PlatformGroupRow,
} from '../../shared/contract/answers/platform-groups.ts';
import { certainPairs, listPlatformGroups } from '../../shared/operate/platform-groups.ts';
import type { Act, Context } from '../context.ts';
import { EXIT } from '../io.ts';
import { plural, shellWords } from '../output/words.ts';
import { examples } from './arguments.ts';

export function addPlatformGroups(program: Command, act: Act): void {
  program
    .command('platform-groups')
    .description(
      'list groups of the platform (managed, adoptable, unmanaged) and the directory groups that match',
    )
    .addOption(new Option('--state <state>', 'only groups in this state').choices(PLATFORM_GROUP_STATES))
    .addHelpText(...examples('platform-groups --state adoptable', 'platform-groups -o csv'))
    .action(act(list));
}

async function list(context: Context, { state }: { readonly state?: string }): Promise<number> {
  const { out } = context;
  const { ports, found } = await context.connected();
  const report = await listPlatformGroups(found, ports);
  const groups = report.groups.filter((one) => state === undefined || one.state === state);
  out.answer({ ...report, groups }, () => {
    out.table(
      groups,
      [
        { title: 'platform id', of: ({ platformId }) => platformId, whole: true },
        { title: 'name', of: ({ name }) => name },
        { title: 'state', of: ({ state }) => state, whole: true },
        { title: 'users', of: ({ users }) => users, align: 'right' },
        { title: 'directory group', of: formatDirectoryGroup },
      ],
      'no group of the platform is in this list',
    );
  });
  const adoptable = certainPairs(report).length;
  const choices = report.groups.filter(({ ambiguous }) => ambiguous);
  const [choice] = choices;
  if (adoptable > 0) out.note('next: groupsync adopt --all');
  if (choice !== undefined) {
    out.note(`${plural(choices.length, 'group')} with several matches: choose the directory group yourself`);
    const [match] = choice.matches;
    if (match !== undefined)
      out.note(`for example: groupsync adopt ${shellWords(match.group, choice.platformId)}`);
  }
  return EXIT.done;
}

function formatDirectoryGroup({ owner, matches }: PlatformGroupRow): string {
  if (owner !== null) return `${owner.name ?? `${owner.connection}/${owner.group}`} (${owner.group})`;
  return matches.map(({ group, by }) => `${group} (same ${by})`).join(', ');
}
