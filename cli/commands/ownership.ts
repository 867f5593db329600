import type { Command } from 'commander';
import { type GroupRef, memberId, platformGroupId, roleId } from '../../shared/domain/ids.ts';
import { unlessNothing } from '../../shared/operate/find-group.ts';
import { forgetMember } from '../../shared/operate/forget.ts';
import { type AdoptOutcome, adoptGroup, releaseGroup } from '../../shared/operate/ownership.ts';
import { rebindMember } from '../../shared/operate/rebind.ts';
import type { Act, Context } from '../context.ts';
import { EXIT } from '../io.ts';
import { erasedLines, plural, shellWords } from '../output/words.ts';
import { examples } from './arguments.ts';
import { follow, NO_WAIT, type Wait } from './follow.ts';

export function addOwnership(program: Command, act: Act): void {
  program
    .command('adopt')
    .description("make a group of the platform a directory group's own")
    .argument('<group>', 'id or name of the directory group')
    .argument('<platform-id>', "the platform's id of the group")
    .option(...NO_WAIT)
    .addHelpText(...examples('adopt Engineering 64f0c1', 'adopt 00g1 64f0c1 --yes'))
    .action(act(adopt));
  program
    .command('release')
    .description('let go of a group: it stays on the platform as it is, and is written no more')
    .argument('<group>', 'id or name')
    .option(...NO_WAIT)
    .addHelpText(...examples('release Engineering', 'release 00g1 --yes'))
    .action(act(release));
  program
    .command('rebind')
    .description('say which employee a member is, whatever the match rules say')
    .argument('<member>', "the member's id in the directory, address or name")
    .argument('<role-id>', "the employee's id on the platform")
    .addHelpText(...examples('rebind ann@acme.test role_0042', 'rebind 00u7 role_0042 --yes'))
    .action(act(rebind));
  program
    .command('forget')
    .description('erase what is known of one person; ids and memberships stay')
    .argument('<member>', "the member's id in the directory, address or name")
    .addHelpText(...examples('forget ann@acme.test', 'forget 00u7 --yes'))
    .action(act(forget));
}

async function adopt(context: Context, group: string, platformId: string, { wait }: Wait): Promise<number> {
  const { out } = context;
  const ref = await context.group(group);
  out.note(
    `the platform's group ${platformId} becomes ${await context.groupLabel(ref)}: name, spokeId and members will be made equal`,
  );
  out.note(
    `the guard holds large removals; what that changes, afterwards: groupsync plan ${shellWords(ref.group)}`,
  );
  if (!(await context.confirm(`Adopt ${platformId}?`))) return EXIT.failed;
  const outcome = await adoptGroup(ref, platformGroupId(platformId), await context.ports());
  out.answer({ group: ref.group, platformId, outcome: outcome.kind }, () =>
    out.line(formatAdoption(outcome, ref)),
  );
  if (outcome.kind !== 'adopted') return EXIT.failed;
  return wait ? follow(context, [ref]) : EXIT.done;
}

function formatAdoption(outcome: AdoptOutcome, { group }: GroupRef): string {
  switch (outcome.kind) {
    case 'adopted':
      return `adopted "${outcome.observed.name}" with ${plural(outcome.observed.users.length, 'user')}`;
    case 'not_in_directory':
      return 'not adopted: the directory has no such group, and adopting it would delete it';
    case 'linked':
      return `not adopted: the group has ${outcome.platformId} already; let go of that first: groupsync release ${shellWords(group)}`;
    case 'owned':
      return `not adopted: it belongs to ${outcome.owner?.connection ?? 'another'}/${outcome.owner?.group ?? 'group'}`;
    case 'not_on_platform':
      return 'not adopted: the platform has no such group';
    case 'busy':
      return 'not adopted: the group was being written; try again';
  }
}

async function release(context: Context, group: string, { wait }: Wait): Promise<number> {
  const { out } = context;
  const ref = await context.group(group);
  const question = `Release ${await context.groupLabel(ref)}? It keeps its name and members, loses the directory's id, and is no longer written.`;
  if (!(await context.confirm(question))) return EXIT.failed;
  const ports = await context.ports();
  const { platformId } = (await ports.groups.read(ref)) ?? {};
  const back = platformId && `; to take it back: groupsync adopt ${shellWords(ref.group, platformId)}`;
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
  const outcome = await rebindMember(connection, ids, await context.ports());
  const isBound = outcome.kind === 'rebound';
  const groups = isBound ? outcome.groups : [];
  const message = isBound
    ? `bound; ${plural(groups.length, 'group')} will be looked at`
    : `no employee ${role} is known; correct the id, or read the employees again: groupsync people refresh`;
  out.answer({ member, role, outcome: outcome.kind, groups }, () => out.line(message));
  return isBound ? EXIT.done : EXIT.failed;
}

async function forget(context: Context, text: string): Promise<number> {
  const { out, connection } = context;
  const ports = await context.ports();
  const member = (await context.member(text).catch(unlessNothing)) ?? memberId(text);
  const { member: memberName } = await context.names({ members: [member] });
  const user = (await ports.users.read(connection, [member])).get(member);
  if (user === undefined) {
    out.answer({ member, forgotten: false, attributes: [], erased: {} }, () =>
      out.line(`nothing is known of ${member}; give the id of a person who is in no group`),
    );
    return EXIT.failed;
  }
  const attributes = [...user.attributes.keys()].sort();
  out.note(`to be erased: ${attributes.join(', ') || 'no attributes'}`);
  out.note('the directory may send them again: have it leave this person out first; of an employee');
  out.note('the platform tells again each hour, so forget them once they have left it');
  if (!(await context.confirm(`Forget ${memberName(member)}?`))) return EXIT.failed;
  const erased = await forgetMember(connection, member, ports);
  out.answer({ member, forgotten: erased !== undefined, attributes, erased: erased ?? {} }, () => {
    out.line(`forgotten: ${member}`);
    for (const line of erasedLines(erased ?? {})) out.line(line);
  });
  return erased === undefined ? EXIT.failed : EXIT.done;
}
