import type { Command } from 'commander';
import { memberId, platformGroupId, roleId } from '../../shared/domain/ids.ts';
import { attributesOf, forgetMember } from '../../shared/operate/forget.ts';
import { type AdoptOutcome, adoptGroup, releaseGroup } from '../../shared/operate/ownership.ts';
import { rebindMember } from '../../shared/operate/rebind.ts';
import type { Act } from '../act.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../io.ts';
import { plural } from '../output/words.ts';

export function addOwnership(program: Command, act: Act): void {
  program
    .command('adopt')
    .description("make a group of the platform a directory group's own")
    .argument('<group>', 'id or exact name of the directory group')
    .argument('<platform-id>', "the platform's id of the group")
    .option('-y, --yes', 'do not ask')
    .addHelpText('after', '\nExample:\n  groupsync adopt 00g1 64f0c1')
    .action(act(adopt));
  program
    .command('release')
    .description('let go of a group: it stays on the platform as it is, and is written no more')
    .argument('<group>', 'id or exact name')
    .option('-y, --yes', 'do not ask')
    .addHelpText('after', '\nExample:\n  groupsync release 00g1')
    .action(act(release));
  program
    .command('rebind')
    .description('say which employee a member is, whatever the match rules say')
    .argument('<member>', "the member's id in the directory")
    .argument('<role-id>', "the employee's id on the platform")
    .option('-y, --yes', 'do not ask')
    .addHelpText('after', '\nExample:\n  groupsync rebind 00u7 role_0042')
    .action(act(rebind));
  program
    .command('forget')
    .description("erase one person's attributes; ids and memberships stay")
    .argument('<member>', "the member's id in the directory")
    .option('-y, --yes', 'do not ask')
    .addHelpText('after', '\nExample:\n  groupsync forget 00u7')
    .action(act(forget));
}

async function adopt(context: Context, group: string, platformId: string): Promise<number> {
  const { out } = context;
  const ref = await context.group(group);
  out.note(
    `the platform's group ${platformId} becomes ${ref.group}: name, spokeId and members will be made equal`,
  );
  out.note(`what that changes: groupsync plan ${ref.group} afterwards; the guard holds large removals`);
  if (!(await context.confirm(`Adopt ${platformId}?`))) return EXIT.failed;
  const outcome = await adoptGroup(ref, platformGroupId(platformId), await context.ports());
  out.answer({ group: ref.group, platformId, outcome: outcome.kind }, () => out.line(sayAdoption(outcome)));
  return outcome.kind === 'adopted' ? EXIT.done : EXIT.failed;
}

function sayAdoption(outcome: AdoptOutcome): string {
  switch (outcome.kind) {
    case 'adopted':
      return `adopted "${outcome.observed.name}" with ${plural(outcome.observed.users.length, 'user')}`;
    case 'not_in_directory':
      return 'not adopted: the directory has no such group, and adopting it would delete it';
    case 'linked':
      return `not adopted: the group has ${outcome.platformId} already; groupsync release it first`;
    case 'owned':
      return `not adopted: it belongs to ${outcome.owner?.connection ?? 'another'}/${outcome.owner?.group ?? 'group'}`;
    case 'not_on_platform':
      return 'not adopted: the platform has no such group';
    case 'busy':
      return 'not adopted: the group was being written; try again';
  }
}

async function release(context: Context, group: string): Promise<number> {
  const { out } = context;
  const ref = await context.group(group);
  if (!(await context.confirm(`Let go of ${ref.group}? It stays as it is and is written no more.`))) {
    return EXIT.failed;
  }
  const released = await releaseGroup(ref, await context.ports());
  out.answer({ group: ref.group, released }, () =>
    out.line(
      released
        ? `released; groupsync adopt ${ref.group} PLATFORM_ID takes it back`
        : 'there is no such group',
    ),
  );
  return released ? EXIT.done : EXIT.failed;
}

async function rebind(context: Context, member: string, role: string): Promise<number> {
  const { out, connection } = context;
  if (!(await context.confirm(`Is ${member} the employee ${role}?`))) return EXIT.failed;
  const ids = { member: memberId(member), role: roleId(role) };
  const outcome = await rebindMember(connection, ids, await context.ports());
  out.answer(
    { member, role, outcome: outcome.kind, groups: outcome.kind === 'rebound' ? outcome.groups : [] },
    () =>
      out.line(
        outcome.kind === 'rebound'
          ? `bound; ${plural(outcome.groups.length, 'group')} will be looked at`
          : `no employee ${role} is known; groupsync people refresh, or mend the id`,
      ),
  );
  return outcome.kind === 'rebound' ? EXIT.done : EXIT.failed;
}

async function forget(context: Context, text: string): Promise<number> {
  const { out, connection } = context;
  const ports = await context.ports();
  const member = memberId(text);
  const attributes = await attributesOf(connection, member, ports);
  if (attributes === undefined) {
    out.answer({ member, forgotten: false, attributes: [] }, () => out.line(`nothing is known of ${member}`));
    return EXIT.failed;
  }
  out.note(`to be erased: ${attributes.join(', ') || 'no attributes'}`);
  out.note('the directory may send them again: have it leave this person out first');
  if (!(await context.confirm(`Forget ${member}?`))) return EXIT.failed;
  const forgotten = await forgetMember(connection, member, ports);
  out.answer({ member, forgotten, attributes }, () => out.line(`forgotten: ${member}`));
  return forgotten ? EXIT.done : EXIT.failed;
}
