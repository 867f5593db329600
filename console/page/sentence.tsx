import type { ComponentChildren } from 'preact';
import type { Entry } from '../answers.ts';
import { personName, withoutAnswer } from './parts.tsx';
import { pathTo } from './route.ts';
import { T } from './texts.ts';

export const actionText = (action: string): string =>
  T.activity.actions[action] ?? action.replaceAll('_', ' ');
export const outcomeText = (outcome: string): string => T.activity.outcomes[outcome] ?? outcome;

export function actorText({ actor }: Entry): string {
  if (actor.kind === 'groupsync') return T.activity.groupsync;
  return actor.name ?? (actor.id || T.activity.someone);
}

type Change = Entry['changes'][number];

/** The kinds of changes that add or remove a user. */
const ADDS = new Set(['add_member', 'members_added']);
const REMOVES = new Set(['remove_member', 'members_removed']);
const DRIFT = 'drift_';
const NAMED = 2;

function personOf({ member, before, after }: Change, { people }: Entry) {
  const id = member ?? after ?? before ?? '';
  return { id, known: Object.hasOwn(people, id) ? people[id] : undefined };
}

/** The names of the first people, as links, and the number of the others. */
function People({ of, entry, more }: { of: readonly Change[]; entry: Entry; more: number }) {
  const named = of.length + more === NAMED + 1 ? of : of.slice(0, NAMED);
  const others = of.length - named.length + more;
  return (
    <>
      {named.map((change, at) => {
        const { id, known } = personOf(change, entry);
        const separator = at === named.length - 1 && others === 0 ? T.activity.and : ', ';
        return (
          <span key={at}>
            {at > 0 && separator}
            {known === undefined ? id : <a href={pathTo('people', known.id)}>{personName(known)}</a>}
          </span>
        );
      })}
      {others > 0 && `${T.activity.and}${T.activity.others(others)}`}
    </>
  );
}

/** The group as a link; “this group” on the page of the group. */
const GroupName = ({ entry, isNamed, isFirst }: Required<SentenceProps> & { readonly isFirst?: boolean }) => {
  if (entry.group === null) return <>{T.activity.connection}</>;
  if (!isNamed) return <>{isFirst === true ? T.activity.thisGroupFirst : T.activity.thisGroup}</>;
  return <a href={pathTo('groups', entry.group)}>{entry.groupName ?? entry.group}</a>;
};

interface SentenceProps {
  readonly entry: Entry;
  /** False on the page of the group. */
  readonly isNamed?: boolean;
}

/** What happened, to which people and which group, why, and who caused it. */
export function Sentence({ entry, isNamed = true }: SentenceProps) {
  const { outcome } = entry;
  return (
    <>
      <What entry={entry} isNamed={isNamed} />
      <Why entry={entry} />
      {outcome === 'rejected' && <span class="bad-text"> · {outcomeText(outcome)}</span>}
      {entry.action.startsWith(DRIFT) && <span class="muted"> · {outcomeText(outcome)}</span>}
    </>
  );
}

function What({ entry, isNamed }: Required<SentenceProps>) {
  const { action, changes, changeCount } = entry;
  const group = <GroupName entry={entry} isNamed={isNamed} />;
  const groupFirst = <GroupName entry={entry} isNamed={isNamed} isFirst />;
  const added = changes.filter(({ kind }) => ADDS.has(kind));
  const removed = changes.filter(({ kind }) => REMOVES.has(kind));
  const others = changes.length - added.length - removed.length;
  // A long list of changes is cut. The changes that are left out belong to the longer of the two lists.
  const cut = changeCount - changes.length;
  const [moreAdded, moreRemoved] = added.length >= removed.length ? [cut, 0] : [0, cut];
  if (action === 'create')
    return (
      <>
        {groupFirst} {T.activity.created(added.length + moreAdded)}
      </>
    );
  if (added.length + removed.length === 0 || others > 0)
    return <Done entry={entry} group={group} first={groupFirst} />;
  const isDrift = action.startsWith(DRIFT);
  const by = isDrift ? `${actorText(entry)} ` : '';
  return (
    <>
      {added.length > 0 && (
        <>
          {by}
          {isDrift && T.activity.addedBy}
          <People of={added} entry={entry} more={moreAdded} /> {isDrift
            ? T.activity.to
            : T.activity.joined}{' '}
        </>
      )}
      {added.length > 0 && removed.length > 0 && T.activity.and}
      {removed.length > 0 && (
        <>
          {by}
          {isDrift && T.activity.removedBy}
          <People of={removed} entry={entry} more={moreRemoved} />{' '}
          {isDrift ? T.activity.from : T.activity.left}{' '}
        </>
      )}
      {group}
    </>
  );
}

interface DoneProps {
  readonly entry: Entry;
  readonly group: ComponentChildren;
  /** The group as the first word of the sentence. */
  readonly first: ComponentChildren;
}

/** The stored selection of an action about all messages. */
const EVERYTHING = '{}';

/** An action or a change without added and removed members. */
function Done({ entry, group, first }: DoneProps) {
  const { action, changes, changeCount, actor } = entry;
  const text = actionText(action);
  if (action === 'hold') {
    return (
      <>
        <a href={pathTo('holds', entry.group ?? '')}>{T.activity.heldRemovals}</a> {group}:{' '}
        {changes[0]?.after}
      </>
    );
  }
  const decided = /^(\d+) removals?/.exec(changes[0]?.reason ?? '')?.[0];
  if (decided !== undefined && T.activity.decides[action] !== undefined) {
    return (
      <>
        {actorText(entry)} {T.activity.decides[action]}{' '}
        <a href={pathTo('holds', entry.group ?? '')}>{decided}</a> {T.activity.of} {group}
      </>
    );
  }
  const shown = changes.slice(0, NAMED).map((change) => changeText(change, entry));
  const more = changeCount - shown.length;
  const texts = shown.filter((text) => text !== EVERYTHING);
  const list = [...texts, ...(more > 0 ? [T.activity.more(more)] : [])].join(', ');
  return (
    <>
      {actor.kind === 'operator' ? (
        <>
          {actorText(entry)} {text}
          {entry.group !== null && <>: {group}</>}
        </>
      ) : (
        <>
          {first} {text}
          {action.startsWith(DRIFT) && ` ${T.activity.by(actorText(entry))}`}
        </>
      )}
      {list !== '' && <span class="muted"> ({list})</span>}
    </>
  );
}

const EVENT = /^event (\S+) of (.+)$/u;
const UNDONE = /^drift [^;]+; \w+ by (.+)$/u;

/** Why the change happened, with a link to its cause. */
function Why({ entry }: { readonly entry: Entry }) {
  const { cause, changes, group, action, actor } = entry;
  const reason = changes.every((change) => change.reason === changes[0]?.reason) ? changes[0]?.reason : '';
  const [, event] = EVENT.exec(cause) ?? [];
  const approved = `approved by ${actor.id}: `;
  const [, other] = UNDONE.exec(cause) ?? [];
  if (cause.startsWith(approved))
    return (
      <span class="muted">
        : {reason}, <a href={pathTo('holds', group ?? '')}>{T.activity.approvedBy(actorText(entry))}</a> (
        {cause.slice(approved.length)})
      </span>
    );
  if (other !== undefined) return <span class="muted">: {T.activity.undoes(other)}</span>;
  if (event !== undefined) {
    const isRemoval = changes.some(({ kind }) => REMOVES.has(kind));
    return (
      <span class="muted">
        : {isRemoval && reason !== '' ? `${reason}, ` : ''}
        {T.activity.sent(actorText(entry))} <a href={pathTo('activity', '', { text: event })}>{event}</a>
      </span>
    );
  }
  if (action.startsWith(DRIFT)) return null;
  const given = actor.kind === 'operator' ? cause.replace(`${actor.id}: `, '') : withoutAnswer(cause);
  return given === '' || given === actor.id ? null : <span class="muted">: {given}</span>;
}

export function changeText(change: Change, entry: Entry): string {
  const { kind, before, after } = change;
  const { id, known } = personOf(change, entry);
  const kindText = T.activity.kinds[kind]?.(known === undefined ? id : personName(known));
  if (kindText !== undefined) return kindText;
  return before !== null && after !== null
    ? `${short(before)} → ${short(after)}`
    : short(after ?? before ?? '');
}

const LONGEST = 80;
const short = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text);
