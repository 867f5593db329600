import type { Command } from 'commander';
import type { AdoptionPreview } from '../../shared/contract/answers/platform-groups.ts';
import { type GroupRef, memberId, roleId } from '../../shared/domain/ids.ts';
import { type Adoption, adoptShown, refuseApproval } from '../../shared/operate/adopt-shown.ts';
import { forgetMember, otherConnectionsKnowing } from '../../shared/operate/forget.ts';
import { undefinedIfNoMatch } from '../../shared/operate/names.ts';
import { type AdoptOutcome, createNamesake, releaseGroup } from '../../shared/operate/ownership.ts';
import {
  certainPairs,
  digestOfAll,
  listPlatformGroups,
  previewAdoptions,
} from '../../shared/operate/platform-groups.ts';
import { rebindMember } from '../../shared/operate/rebind.ts';
import type { Connection } from '../../shared/sync/ports/connections.ts';
import type { Act, Context } from '../context.ts';
import { EXIT, UsageError } from '../io.ts';
import { erasedLines, plural, shellWords } from '../output/words.ts';
import { examples } from './arguments.ts';
import { follow, NO_WAIT, type WaitOption } from './follow.ts';

export function addAdopt(program: Command, act: Act): void {
  program
    .command('adopt')
    .description('link a platform group to a directory group, and manage it; after a preview')
    .argument('[group]', 'id or name of the directory group')
    .argument('[platform-id]', 'id of the platform group')
    .option('--all', 'every platform group that matches exactly one directory group')
    .option('--create', 'instead create a platform group beside the unmanaged one with the same name')
    .option('--digest <digest>', 'also approve the removals that the preview shows with this digest')
    .option('--reason <text>', 'with --digest: why you approve, for the audit')
    .option(...NO_WAIT)
    .addHelpText(...examples('adopt Engineering 64f0c1', 'adopt Engineering --create', 'adopt --all'))
    .action(act(adopt));
}

interface AdoptOptions extends WaitOption {
  readonly all?: boolean;
  readonly create?: boolean;
  readonly digest?: string;
  readonly reason?: string;
}

async function adopt(
  context: Context,
  group: string | undefined,
  platformId: string | undefined,
  options: AdoptOptions,
): Promise<number> {
  const { all = false, create = false } = options;
  if ([all, create, platformId !== undefined].filter(Boolean).length !== 1 || all !== (group === undefined))
    throw new UsageError('expected a group with the id of a platform group or with --create, or --all');
  const ref = group === undefined ? undefined : await context.group(group);
  if (ref !== undefined && create) return createAnother(context, ref, options);
  const { ports, found } = await context.connected();
  const named = platformId === undefined ? [] : [{ group: ref?.group ?? '', platformId }];
  const pairs = all ? certainPairs(await listPlatformGroups(found, ports)) : named;
  return adoptPairs(context, await previewAdoptions(found, pairs, ports), options);
}

async function adoptPairs(context: Context, previews: readonly AdoptionPreview[], options: AdoptOptions) {
  const { out } = context;
  const { found, ports } = await context.connected();
  for (const preview of previews) out.note(formatPreview(preview, found));
  const digest = digestOfAll(previews.flatMap((one) => one.digest ?? []));
  if (digest !== null && previews.length > 1 && !found.settings.fourEyes)
    out.note(`to approve exactly these removals of all groups too: --digest ${digest.slice(0, 12)}`);
  const reason = await approvalOf(options, digest, context);
  if (previews.length === 0) out.note('no group of the platform can be adopted');
  else if (!(await context.confirm(`Adopt ${plural(previews.length, 'group')}?`))) return EXIT.failed;
  const adoptions = await adoptShown(found, { pairs: previews, reason }, ports);
  const adopted = printAdoptions(previews, adoptions, out);
  const refs = adopted.map(({ ref }) => ref);
  const followed = options.wait && refs.length > 0 ? await follow(context, refs) : EXIT.done;
  if (refs.length < previews.length) return EXIT.failed;
  if (reason === undefined) return followed;
  return adopted.every(({ isApproved }) => isApproved) ? EXIT.done : EXIT.attention;
}

function printAdoptions(
  previews: readonly AdoptionPreview[],
  adoptions: readonly Adoption[],
  out: Context['out'],
): readonly Adoption[] {
  const report = previews.map((preview, at) => ({ ...preview, outcome: adoptions[at]?.outcome.kind }));
  out.answer({ adoptions: report, created: null }, () => {
    for (const { ref, outcome } of adoptions)
      out.line(`${shellWords(ref.group)}: ${formatAdoption(outcome, ref)}`);
  });
  for (const { ref, isApproved } of adoptions)
    if (!isApproved)
      out.note(
        `${ref.group}: not approved: its removals have changed, or are not recorded yet; to see them: groupsync holds show ${shellWords(ref.group)}`,
      );
  return adoptions.filter(({ outcome }) => outcome.kind === 'adopted');
}

/**
 * @param shown the digest of the removals that the preview shows
 * @returns the reason of the approval; undefined without `--digest`
 * @throws Error if the given digest is another one, or if another person must approve
 */
async function approvalOf({ digest, reason, wait }: AdoptOptions, shown: string | null, context: Context) {
  if (digest === undefined) return undefined;
  if (!wait)
    throw new UsageError('--no-wait: expected no such option with --digest, which waits for the removals');
  if (digest === '' || shown?.startsWith(digest) !== true)
    throw new Error(
      `nothing was changed: expected the digest of the preview (${shown ?? 'none, because no removals are held'}), got "${digest}"`,
    );
  refuseApproval((await context.connected()).found);
  return context.reason(reason);
}

async function createAnother(context: Context, ref: GroupRef, { wait }: WaitOption): Promise<number> {
  const { out } = context;
  const label = await context.groupLabel(ref);
  out.note(`groupsync will create a platform group for ${label}; the unmanaged group with this name stays`);
  if (!(await context.confirm(`Create a second group with the name of ${label}?`))) return EXIT.failed;
  const created = await createNamesake(ref, await context.ports());
  out.answer({ adoptions: [], created: created ? ref.group : null }, () =>
    out.line(
      created ? `${label} will be created` : `nothing was changed: ${label} does not wait (name_clash)`,
    ),
  );
  if (!created) return EXIT.failed;
  return wait ? follow(context, [ref]) : EXIT.done;
}

function formatPreview(preview: AdoptionPreview, { settings }: Connection): string {
  const { group, groupName, platformId, name, renamedTo, added, removed, held, digest, problem } = preview;
  const pair = `${platformId} "${name ?? ''}" becomes ${groupName} (${group})`;
  if (problem !== null) return `${pair}: ${problem}`;
  const parts = [`${added} added`, `${removed} removed`, `${held} held`];
  if (renamedTo !== null) parts.push(`renamed to "${renamedTo}"`);
  if (digest === null) return `${pair}: ${parts.join(', ')}`;
  const approval = settings.fourEyes
    ? `then another person approves exactly these removals: groupsync holds approve ${shellWords(group)}`
    : `to approve exactly these removals too: groupsync adopt ${shellWords(group, platformId)}`;
  return `${pair}: ${parts.join(', ')}; ${approval} --digest ${digest.slice(0, 12)}`;
}

function formatAdoption(outcome: AdoptOutcome, { group }: GroupRef): string {
  switch (outcome.kind) {
    case 'adopted':
      return `adopted "${outcome.observed.name}" with ${plural(outcome.observed.users.length, 'user')}`;
    case 'not_in_directory':
      return 'not adopted: the directory has no such group, so groupsync would delete the platform group';
    case 'linked':
      return `not adopted: the group already has the platform group ${outcome.platformId}; release it first: groupsync release ${shellWords(group)}`;
    case 'owned':
      return `not adopted: it belongs to ${outcome.owner?.connection ?? 'another'}/${outcome.owner?.group ?? 'group'}`;
    case 'not_on_platform':
      return 'not adopted: the platform has no such group';
    case 'busy':
      return 'not adopted: a write of the group is in progress, or the platform does not show it yet; run the command again in a minute';
  }
}

export function addOwnership(program: Command, act: Act): void {
  program
    .command('release')
    .description('stop managing a group: it stays on the platform unchanged, and is not written any more')
    .argument('<group>', 'id or name')
    .option(...NO_WAIT)
    .addHelpText(...examples('release Engineering', 'release 00g1 --yes'))
    .action(act(release));
  program
    .command('rebind')
    .description('bind a member to an employee; overrides the match rules')
    .argument('<member>', "the member's id in the directory, address or name")
    .argument('<role-id>', "the employee's id on the platform")
    .addHelpText(...examples('rebind ann@acme.test role_0042', 'rebind 00u7 role_0042 --yes'))
    .action(act(rebind));
  program
    .command('forget')
    .description('erase the attributes of a person; ids and memberships stay')
    .argument('<member>', "the member's id in the directory, address or name")
    .addHelpText(...examples('forget ann@acme.test', 'forget 00u7 --yes'))
    .action(act(forget));
}

async function release(context: Context, group: string, { wait }: WaitOption): Promise<number> {
  const { out } = context;
  const ref = await context.group(group);
  const question = `Release ${await context.groupLabel(ref)}? It keeps its name and members, loses the directory's id, and groupsync does not write it any more.`;
  if (!(await context.confirm(question))) return EXIT.failed;
  const ports = await context.ports();
  const { link } = (await ports.groups.read(ref)) ?? {};
  const back = link && `; to adopt it again: groupsync adopt ${shellWords(ref.group, link.id)}`;
  const released = await releaseGroup(ref, ports);
  out.answer({ group: ref.group, released }, () =>
    out.line(released ? `released${back ?? ''}` : 'there is no such group'),
  );
  if (!released) return EXIT.failed;
  return wait ? follow(context, [ref]) : EXIT.done;
}

async function rebind(context: Context, text: string, role: string): Promise<number> {
  const { out, connection } = context;
  const member = await context.member(text);
  const { member: memberName } = await context.names({ members: [member] });
  if (!(await context.confirm(`Is ${memberName(member)} the employee ${role}?`))) return EXIT.failed;
  const ids = { member, role: roleId(role) };
  const groups = await rebindMember(connection, ids, await context.ports());
  const message = groups
    ? `bound; ${plural(groups.length, 'group')} will be synced`
    : `employee ${role} is unknown; correct the id, or refresh the employees: groupsync people refresh`;
  const outcome = groups ? 'rebound' : 'unknown_person';
  out.answer({ member, role, outcome, groups: groups ?? [] }, () => out.line(message));
  return groups ? EXIT.done : EXIT.failed;
}

async function forget(context: Context, text: string): Promise<number> {
  const { out, connection } = context;
  const ports = await context.ports();
  const member = (await context.member(text).catch(undefinedIfNoMatch)) ?? memberId(text);
  const { member: memberName } = await context.names({ members: [member] });
  const user = (await ports.users.read(connection, [member])).get(member);
  if (user === undefined) {
    out.answer({ member, forgotten: false, attributes: [], erased: {}, others: [] }, () =>
      out.line(`no data is stored for ${member}; for a person without groups, use the id`),
    );
    return EXIT.failed;
  }
  const attributes = [...user.attributes.keys()].sort();
  out.note(`to be erased: ${attributes.join(', ') || 'no attributes'}`);
  out.note('the directory may send these attributes again: remove the person there first');
  out.note(
    'the platform sends the attributes of its employees again every hour, so forget only people who have left the company',
  );
  if (!(await context.confirm(`Forget ${memberName(member)}?`))) return EXIT.failed;
  const others = await otherConnectionsKnowing(connection, member, ports);
  const erased = await forgetMember(connection, member, ports);
  const document = { member, forgotten: erased !== undefined, attributes, erased: erased ?? {}, others };
  out.answer(document, () => {
    out.line(`forgotten: ${member}`);
    for (const line of erasedLines(erased ?? {})) out.line(line);
    if (others.length > 0) out.line(`other connections still know this person: ${others.join(', ')}`);
  });
  for (const other of others)
    out.note(`to search there: groupsync --connection ${other} person ${shellWords(member)}`);
  return erased === undefined ? EXIT.failed : EXIT.done;
}
