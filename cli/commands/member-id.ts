import type { Inspection } from '../../shared/contract/answers/connect.ts';
import type { ConnectionSettings } from '../../shared/contract/settings.ts';
import { type InspectedInput, proposedSettings } from '../../shared/operate/connect/inspect.ts';
import type { Context } from '../context.ts';
import { Stopped } from '../io.ts';

type MemberIdField = ConnectionSettings['memberIdField'];

const FIELDS: readonly { readonly value: MemberIdField; readonly label: string; readonly hint: string }[] = [
  { value: 'userId', label: 'userId', hint: 'the user id of an employee, as in the specification' },
  { value: 'id', label: 'id', hint: 'the employee id, as in newer descriptions of the platform' },
];

/**
 * Returns the settings with `memberIdField` set to the kind of id that the platform's groups contain. For a new
 * connection, the members of existing groups show the kind. If no group has a known member, the command asks the
 * operator. Without a terminal or with `--yes`, the setting does not change.
 */
export async function settleMemberIdField(
  context: Context,
  input: InspectedInput,
  { memberIds }: Pick<Inspection, 'memberIds'>,
): Promise<ConnectionSettings> {
  const settings = proposedSettings(input, memberIds);
  if (!input.isNew || memberIds === null || memberIds.field !== null) return settings;
  const { io, out, yes } = context;
  if (!yes && io.stdin.isTTY === true) return { ...settings, memberIdField: await ask(context, settings) };
  out.note(
    `memberIdField stays ${settings.memberIdField}: no group on the platform shows the kind of id that groups contain`,
  );
  out.note(`if groups contain employee ids: groupsync connections set ${input.name} memberIdField=id`);
  return settings;
}

async function ask({ io }: Context, { memberIdField }: ConnectionSettings): Promise<MemberIdField> {
  const clack = await import('@clack/prompts');
  const answer = await clack.select({
    message: 'Which id of an employee do groups on the platform contain?',
    options: [...FIELDS],
    initialValue: memberIdField,
    input: io.stdin,
    output: io.stderr,
  });
  if (clack.isCancel(answer)) throw new Stopped();
  return answer;
}
