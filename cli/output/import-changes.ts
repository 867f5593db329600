import type { ImportComparison } from '../../shared/contract/answers/files.ts';
import { formatMoment } from '../../shared/contract/moment.ts';
import { listed, withId } from '../../shared/operate/names.ts';
import { otherSourceLines, SHOWN } from '../commands/events.ts';
import type { Context } from '../context.ts';
import { clashLines } from './clashes.ts';
import { plural, visible } from './words.ts';

const SIGNS = { added: '+', removed: '−', unmatched: '?' } as const;

const CAUSES = {
  unknown: 'without an employee',
  ambiguous: 'with more than one employee',
  inactive: 'not active on the platform',
  refused: 'refused by the platform',
  blocked: 'blocked by an operator',
} as const;

export async function changeLines(context: Context, comparison: ImportComparison | undefined) {
  if (comparison === undefined) return [];
  const { added, removed, unmatched, excluded = 0, pending = [] } = comparison;
  const lines = [
    ...(await personLines(context, comparison)),
    `${added} added (+), ${removed} removed (−)${unmatchedText(unmatched)}`,
  ];
  if (excluded > 0) lines.push(`${excluded} excluded (people.exclude)`);
  if (pending.length > 0) lines.push(pendingLine(pending));
  lines.push(...otherSourceLines(comparison));
  lines.push(...(await groupLines(context, comparison)));
  return lines;
}

const unmatchedText = (unmatched: number): string =>
  unmatched === 0 ? '' : `; added without an employee on the platform (?): ${unmatched}`;

function pendingLine(pending: NonNullable<ImportComparison['pending']>): string {
  const total = pending.reduce((sum, { count }) => sum + count, 0);
  const causes = pending.map(({ cause, count }) => `${count} ${CAUSES[cause]}`);
  return `${total} will be pending: ${causes.join(', ')}`;
}

async function personLines(context: Context, comparison: ImportComparison): Promise<readonly string[]> {
  const { changes } = comparison;
  const names = await context.names({
    groups: changes.map(({ group }) => group),
    members: changes.map(({ member }) => member),
  });
  return (['removed', 'unmatched', 'added'] as const).flatMap((wanted) => {
    const some = changes.filter(({ kind }) => kind === wanted).slice(0, SHOWN);
    const rest = comparison[wanted] - some.length;
    const lines = some.map(({ group, groupName, member, email, pending = 'unknown', overrides }) => {
      const person = named(names.member(member), member, email);
      const waits = pending === 'unknown' ? '' : `; ${CAUSES[pending]}`;
      const where = named(names.group(group), group, groupName);
      return `${SIGNS[wanted]} ${person} in ${where}${waits}${overrides ? overriddenText(wanted, overrides) : ''}`;
    });
    return rest > 0 ? [...lines, `${SIGNS[wanted]} … and ${rest} more`] : lines;
  });
}

type Overridden = NonNullable<ImportComparison['changes'][number]['overrides']>;

function overriddenText(undo: keyof typeof SIGNS, { id, source, time, by }: Overridden): string {
  const what = undo === 'removed' ? 'added' : 'removed';
  const author = by === null ? '' : ` by ${by}`;
  return `; overrides the event ${visible(id)} of ${visible(source)}, which ${what} them${visible(author)} at ${formatMoment(Date.parse(time))}`;
}

async function groupLines(context: Context, comparison: ImportComparison): Promise<readonly string[]> {
  const { held, renamed, clashes, changedSince = [], newGroups = [], superseded = 0, ends = [] } = comparison;
  const names = await context.names({
    groups: [...held, ...changedSince, ...ends.map(({ group }) => group)],
  });
  const lines = [...newLines(newGroups), ...(await otherIdLines(context, comparison.otherIds ?? []))];
  for (const { group, before, groupName } of renamed.slice(0, SHOWN)) {
    lines.push(`${withId(before, group)} will be renamed to ${groupName}`);
  }
  if (renamed.length > SHOWN) lines.push(`… and ${renamed.length - SHOWN} more groups will be renamed`);
  for (const group of held) lines.push(`the guard would hold the removals of ${names.group(group)}`);
  for (const { group, decision, by } of ends)
    lines.push(`ends the decision of ${by} (${decision}) about removals of ${names.group(group)}`);
  lines.push(...outdatedLines(changedSince.map(names.group), superseded));
  if (clashes === null) lines.push('the platform could not be checked for groups with the same names');
  else {
    const unmanaged = clashes.filter(({ managedBy }) => managedBy === undefined);
    lines.push(...clashLines(unmanaged), ...(unmanaged.length > 0 ? ADOPTION_LINES : []));
    lines.push(...managedLines(clashes));
  }
  return lines;
}

function managedLines(clashes: NonNullable<ImportComparison['clashes']>): readonly string[] {
  const managed = clashes.flatMap(({ managedBy, ...one }) =>
    managedBy === undefined ? [] : [{ ...one, ...managedBy, created: one.group }],
  );
  if (managed.length === 0) return [];
  const rest = managed.length > SHOWN ? [`  … and ${managed.length - SHOWN} more`] : [];
  return [
    `warning: the file would duplicate ${plural(managed.length, 'platform group')} that groupsync already manages (same name or external id)`,
    ...managed.slice(0, SHOWN).map(({ platformId, name, created, group, connection }) => {
      const owner = visible(connection === null ? group : `${group} of connection ${connection}`);
      return `  ${platformId} "${visible(name)}" belongs to ${owner}; the file would create ${visible(created)}`;
    }),
    '  if they are the same group, put the id of the first group into the file',
    ...rest,
  ];
}

function newLines(groups: NonNullable<ImportComparison['newGroups']>): readonly string[] {
  if (groups.length === 0) return [];
  const labels = groups.map(({ group, groupName }) => withId(groupName, group));
  return [`new ${groups.length === 1 ? 'group' : 'groups'}: ${listed(labels, SHOWN)}`];
}

async function otherIdLines(context: Context, otherIds: NonNullable<ImportComparison['otherIds']>) {
  const [first] = otherIds;
  if (first === undefined) return [];
  const names = await context.names({ members: [first.known] });
  const people = plural(otherIds.length, 'person', 'people');
  const [are, ids] = otherIds.length === 1 ? ['is', 'another id'] : ['are', 'other ids'];
  return [
    `warning: ${people} of the file ${are} known under ${ids}: ${first.member} is ${names.member(first.known)}`,
    '  if the file has ids of another system, use the column of addresses: --columns member=email',
  ];
}

function outdatedLines(groups: readonly string[], superseded: number): readonly string[] {
  if (groups.length === 0) return [];
  return [
    `warning: the file is older than the directory's state of ${plural(groups.length, 'group')}: ${listed(groups, SHOWN)}`,
    `  the directory's later state is kept: ${plural(superseded, 'difference')} of the file ${superseded === 1 ? 'has' : 'have'} no effect`,
    '  if the file is newer, give its time: --as-of TIME, or --as-of now',
  ];
}

const ADOPTION_LINES = [
  '  the directory group waits until you decide (name_clash); after the import, run the adopt commands of the warning,',
  '  or adopt all groups after a preview: groupsync adopt --all',
];

const named = (known: string, id: string, ofFile: string | null) =>
  known === id ? withId(ofFile ?? undefined, id) : known;
