import type { Command } from 'commander';
import { memberId, roleId } from '../../shared/domain/ids.ts';
import { undefinedIfNoMatch } from '../../shared/operate/find-group.ts';
import { forgetMember, otherConnectionsKnowing } from '../../shared/operate/forget.ts';
import { releaseGroup } from '../../shared/operate/ownership.ts';
import { rebindMember } from '../../shared/operate/rebind.ts';
import type { Act, Context } from '../context.ts';
import { EXIT } from '../io.ts';
import { erasedLines, plural, shellWords } from '../output/words.ts';
import { examples } from './arguments.ts';
import { follow, NO_WAIT, type WaitOption } from './follow.ts';

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
