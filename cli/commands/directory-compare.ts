import type { DirectoryComparison } from '../../shared/contract/answers/directory.ts';
import { compareDirectory } from '../../shared/operate/directory/compare.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../io.ts';
import { plural } from '../output/words.ts';
import { chosenDirectory, withHint } from './directory-source.ts';
import type { DirectoryOptions } from './directory-vendors.ts';

/** Prints the changes on the platform that a first run of the reader would cause. */
export async function compare(context: Context, options: DirectoryOptions): Promise<number> {
  const { out } = context;
  const { connection, kind, directory, ports } = await chosenDirectory(context, options);
  out.note(`reading the directory of ${connection.name} and the platform …`);
  const comparison = await withHint(compareDirectory(connection, directory, ports), kind);
  const { groups, changes, unmanaged, unmanagedCount } = comparison;
  out.answer(comparison, () => {
    out.line(totalsLine(comparison));
    out.table(
      groups.filter(({ action }) => action !== 'same'),
      [
        { title: 'group', of: ({ group, name }) => `${name} (${group})`, whole: 'id' },
        { title: 'would be', of: ({ action }) => ACTIONS[action] },
        { title: 'platform group', of: ({ platformId }) => platformId ?? '' },
        { title: 'added', of: ({ added }) => added, align: 'right' },
        { title: 'removed', of: ({ removed }) => removed, align: 'right' },
        { title: 'pending', of: ({ pending }) => pending, align: 'right' },
        { title: 'problem', of: ({ problem, other }) => problem ?? other ?? '' },
      ],
      'every compared platform group equals its directory group',
    );
    for (const { kind, groupName, user, email } of changes)
      out.line(`${kind === 'added' ? '+' : '-'} ${groupName}: ${email ?? user}`);
    if (unmanagedCount > 0)
      out.line(
        `${plural(unmanagedCount, 'platform group')} stay as they are: ${unmanaged
          .slice(0, MAX_NAMED)
          .map(({ name, platformId }) => name ?? platformId)
          .join(', ')}`,
      );
  });
  return EXIT.done;
}

const MAX_NAMED = 5;

const ACTIONS = {
  adopt: 'adopted',
  create: 'created',
  change: 'changed',
  same: 'left as it is',
  name_clash: 'name in use',
  other_source: 'left to its source',
  unreadable: 'not read',
} as const;

const totalsLine = ({ totals }: DirectoryComparison): string =>
  `${totals.adopt} adopted, ${totals.create} created, ${totals.change} changed, ${totals.same} same; ${plural(totals.added, 'member')} added, ${totals.removed} removed, ${totals.pending} pending`;
