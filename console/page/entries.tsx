import { useState } from 'preact/hooks';
import type { Entry } from '../answers.ts';
import { exact } from './format.ts';
import { Chevron, Empty, Facts, personName, Reason, Time, Toggle } from './parts.tsx';
import { pathTo } from './route.ts';
import { T } from './texts.ts';

export const actionText = (action: string): string =>
  T.activity.actions[action] ?? action.replaceAll('_', ' ');
export const outcomeText = (outcome: string): string => T.activity.outcomes[outcome] ?? outcome;

export function actorText({ actor }: Entry): string {
  if (actor.kind === 'groupsync') return T.activity.groupsync;
  return actor.name ?? (actor.id || T.activity.someone);
}

export function changeText(
  { kind, member, before, after }: Entry['changes'][number],
  { people }: Entry,
): string {
  const id = member ?? after ?? before ?? '';
  const known = Object.hasOwn(people, id) ? people[id] : undefined;
  const who = known === undefined ? id : personName(known);
  const kindText = T.activity.kinds[kind]?.(who);
  if (kindText !== undefined) return kindText;
  return before !== null && after !== null
    ? `${short(before)} → ${short(after)}`
    : short(after ?? before ?? '');
}

const LONGEST = 80;
const short = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text);
const SHOWN = 3;

interface EntriesProps {
  readonly of: readonly Entry[];
  readonly none: string;
  readonly group?: boolean;
}

export const Entries = ({ of, none, group = true }: EntriesProps) =>
  of.length === 0 ? (
    <Empty title={none} />
  ) : (
    <ol class="entries">
      {of.map((entry, index) => (
        <EntryLine key={`${entry.at} ${index}`} entry={entry} group={group} />
      ))}
    </ol>
  );

interface EntryProps {
  readonly entry: Entry;
  readonly group?: boolean;
  readonly open?: boolean;
}

/** One line per entry. Ids, the version and all changes are behind Details. */
export function EntryLine({ entry, group = true, open = false }: EntryProps) {
  const [isOpen, setOpen] = useState(open);
  const { at, action, outcome } = entry;
  const what = actionText(action);
  return (
    <li class={`entry by-${entry.actor.kind}`}>
      <Time at={at} />
      <p class={isOpen ? '' : 'one-line'}>
        {group && entry.group !== null && (
          <a href={pathTo('groups', entry.group)}>{entry.groupName ?? entry.group}</a>
        )}
        {group && entry.group === null && <span>{T.activity.connection}</span>} {what}
        {!isOpen && <span class="muted"> {summaryOf(entry)}</span>}
      </p>
      <span class="muted actor">
        {actorText(entry)}
        {outcome === 'rejected' && <span class="bad-text"> · {outcomeText(outcome)}</span>}
      </span>
      <Toggle isOpen={isOpen} set={setOpen} isQuiet label={T.activity.detailsOf(what, entry.groupName ?? '')}>
        <Chevron />
      </Toggle>
      {isOpen && <EntryDetails entry={entry} />}
    </li>
  );
}

/** The first changes of an entry, and the number of changes that are not shown. */
function summaryOf(entry: Entry): string {
  const { changes, changeCount } = entry;
  const shown = changes.slice(0, SHOWN).map((change) => changeText(change, entry));
  const more = changeCount - shown.length;
  return [...shown, ...(more > 0 ? [T.activity.more(more)] : [])].join(', ');
}

function EntryDetails({ entry }: { readonly entry: Entry }) {
  const { at, outcome, changes, changeCount, cause, version } = entry;
  return (
    <div class="entry-details">
      <p class="changes">
        {changes.map((change, index) => (
          <span key={index} title={change.reason}>
            {changeText(change, entry)}
          </span>
        ))}
        {changeCount > changes.length && <span>{T.activity.more(changeCount - changes.length)}</span>}
      </p>
      <Facts
        of={[
          [T.activity.outcome, outcomeText(outcome)],
          [T.activity.cause, <Reason key="cause">{cause}</Reason>],
          [T.activity.version, version],
          [T.activity.time, exact(at)],
        ]}
      />
    </div>
  );
}
