import { createHash } from 'node:crypto';
import type { Command } from 'commander';
import {
  type AdoptionPreview,
  PLATFORM_GROUP_STATES,
  type PlatformGroupRow,
} from '../../shared/contract/answers/platform-groups.ts';
import { type GroupRef, groupId, platformGroupId } from '../../shared/domain/ids.ts';
import { NotFound } from '../../shared/operate/find-group.ts';
import { type AdoptOutcome, adoptGroup } from '../../shared/operate/ownership.ts';
import {
  type AdoptionPair,
  certainPairs,
  listPlatformGroups,
  previewAdoptions,
} from '../../shared/operate/platform-groups.ts';
import type { Act, Context } from '../context.ts';
import { EXIT, UsageError } from '../io.ts';
import { plural, shellWords } from '../output/words.ts';
import { examples } from './arguments.ts';
import { follow } from './follow.ts';
import { type Approval, addApproval, approvalOf, formatAdoption, formatPreview } from './ownership.ts';

const STATES: readonly string[] = PLATFORM_GROUP_STATES;

export function addPlatformGroups(program: Command, act: Act): void {
  const command = program
    .command('platform-groups')
    .description('groups of the platform: managed by groupsync, adoptable, or unmanaged')
    .addHelpText(...examples('platform-groups --state adoptable', 'platform-groups adopt --all'));
  command
    .command('list', { isDefault: true })
    .description('list groups of the platform with their state and the directory groups that match')
    .option('--state <state>', `only groups in this state: ${STATES.join(', ')}`)
    .addHelpText(...examples('platform-groups', 'platform-groups list --state unmanaged --output csv'))
    .action(act(list));
  const adoption = command
    .command('adopt')
    .description('adopt groups that have exactly one match, after a preview')
    .argument('[platform-ids...]', 'ids of adoptable platform groups')
    .option('--all', 'every adoptable group with exactly one match');
  addApproval(adoption)
    .addHelpText(...examples('platform-groups adopt 64f0c1', 'platform-groups adopt --all --yes'))
    .action(act(adopt));
}

async function list(context: Context, { state }: { readonly state?: string }): Promise<number> {
  if (state !== undefined && !STATES.includes(state))
    throw new UsageError(`--state: expected ${STATES.join(', ')}, got "${state}"`);
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
  if (adoptable > 0) out.note('next: groupsync platform-groups adopt --all');
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

interface AdoptOptions extends Approval {
  readonly all?: boolean;
}

async function adopt(context: Context, ids: readonly string[], options: AdoptOptions) {
  const { all, wait } = options;
  if (ids.length > 0 === (all === true)) throw new UsageError('expected ids of platform groups, or --all');
  const { out } = context;
  const { ports, found } = await context.connected();
  const report = await listPlatformGroups(found, ports);
  const pairs = certainPairs(report, all === true ? undefined : new Set(ids));
  refuseOthers(ids, pairs, report.groups);
  const previews = await previewAdoptions(found, pairs, ports);
  for (const preview of previews) out.note(formatPreview(preview, found));
  const digest = digestOfAll(previews);
  if (digest !== null && previews.length > 1 && !found.settings.fourEyes)
    out.note(`to approve exactly these removals of all groups too: --digest ${digest.slice(0, 12)}`);
  const approval = await approvalOf(options, digest, found, context);
  if (pairs.length === 0) out.note('no group of the platform can be adopted');
  else if (!(await context.confirm(`Adopt ${plural(pairs.length, 'group')}?`))) return EXIT.failed;
  const adoptions: { ref: GroupRef; preview: AdoptionPreview; outcome: AdoptOutcome }[] = [];
  for (const preview of previews) {
    const ref = { connection: found.name, group: groupId(preview.group) };
    const outcome = await adoptGroup(ref, platformGroupId(preview.platformId), ports);
    adoptions.push({ ref, preview, outcome });
  }
  out.answer(
    { adoptions: adoptions.map(({ preview, outcome }) => ({ ...preview, outcome: outcome.kind })) },
    () => {
      for (const { ref, outcome } of adoptions)
        out.line(`${shellWords(ref.group)}: ${formatAdoption(outcome, ref)}`);
    },
  );
  const adopted = adoptions.filter(({ outcome }) => outcome.kind === 'adopted').map(({ ref }) => ref);
  if (wait && adopted.length > 0) await follow(context, adopted);
  if (adopted.length < pairs.length) return EXIT.failed;
  return approval === undefined ? EXIT.done : approveShown(context, previews, approval.reason);
}

/** Returns one digest of the held removals of all previews; null if there are none. */
function digestOfAll(previews: readonly AdoptionPreview[]): string | null {
  const [first = null, ...others] = previews.flatMap(({ digest }) => digest ?? []).sort();
  return others.length === 0 ? first : createHash('sha256').update(`${first} ${others}`).digest('hex');
}

/** Approves exactly the removals that the previews showed. */
async function approveShown(context: Context, previews: readonly AdoptionPreview[], reason: string) {
  const ports = await context.ports();
  let code: number = EXIT.done;
  for (const { group, digest } of previews) {
    if (digest === null) continue;
    const ref = { connection: context.connection, group: groupId(group) };
    const { kind } = await ports.decisions.hold({ ...ref, isApproved: true, request: { reason, digest } });
    if (kind === 'decided') await follow(context, [ref]);
    else code = EXIT.attention;
    context.out.note(
      kind === 'decided' ? `${group}: approved` : `${group}: not approved, its removals have changed`,
    );
  }
  return code;
}

/** @throws NotFound for a given id that is not in `pairs` */
function refuseOthers(
  ids: readonly string[],
  pairs: readonly AdoptionPair[],
  groups: readonly PlatformGroupRow[],
): void {
  const known = new Set(pairs.map(({ platformId }) => platformId));
  const other = ids.find((id) => !known.has(id));
  if (other === undefined) return;
  const row = groups.find(({ platformId }) => platformId === other);
  if (row === undefined) throw new NotFound(`the platform has no group ${other}`);
  const why = row.state === 'managed' ? 'groupsync manages it already' : 'it has no match, or several';
  throw new NotFound(`${other} cannot be adopted here: ${why}; to choose: groupsync adopt GROUP ${other}`);
}
