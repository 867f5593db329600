import type { ComponentChildren } from 'preact';
import { settingDifference } from '../../shared/contract/setting-difference.ts';
import type { Entry } from '../answers.ts';
import { nowMs } from './net.ts';
import { personName, withoutAnswer } from './parts.tsx';
import { pathTo } from './route.ts';
import { T } from './texts.ts';

export const actionText = (action: string): string =>
  T.activity.actions[action] ?? action.replaceAll('_', ' ');
export const outcomeText = (outcome: string): string => T.activity.outcomes[outcome] ?? outcome;

export function actorText({ actor }: Entry): string {
  if (actor.kind === 'groupsync') return T.activity.groupsync;
  if (actor.kind === 'scim') return T.deliveries.clientOf(actor.kind, actor.name ?? actor.id);
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
            {known === undefined ? (
              <span class="name">{id}</span>
            ) : (
              <a class="name" href={pathTo('people', known.id)}>
                {personName(known)}
              </a>
            )}
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
  return (
    <a class="name" href={pathTo('groups', entry.group)}>
      {entry.groupName ?? entry.group}
    </a>
  );
};

interface SentenceProps {
  readonly entry: Entry;
  /** False on the page of the group. */
  readonly isNamed?: boolean;
}

/** Returns how the changes of a line change members; undefined if they do not. */
function directionOf({ action, changes }: Entry): 'added' | 'removed' | undefined {
  if (action === 'create' || changes.length === 0) return undefined;
  if (changes.every(({ kind }) => ADDS.has(kind))) return 'added';
  return changes.every(({ kind }) => REMOVES.has(kind)) ? 'removed' : undefined;
}

/** What happened, to which people and which group, why, and who caused it. */
export function Sentence({ entry, isNamed = true }: SentenceProps) {
  const { action, outcome } = entry;
  return (
    <>
      <What entry={entry} isNamed={isNamed} />
      {!action.startsWith(DRIFT) && <Why entry={entry} />}
      {outcome === 'rejected' && <span class="bad-text"> · {outcomeText(outcome)}</span>}
      {action.startsWith(DRIFT) && <span class="muted"> · {outcomeText(outcome)}</span>}
    </>
  );
}

function What({ entry, isNamed }: Required<SentenceProps>) {
  const { action, changes, changeCount } = entry;
  const group = <GroupName entry={entry} isNamed={isNamed} />;
  const groupFirst = <GroupName entry={entry} isNamed={isNamed} isFirst />;
  const missing = changeCount - changes.length;
  if (action === 'create') {
    const members = changes.filter(({ kind }) => ADDS.has(kind)).length + missing;
    return (
      <>
        {groupFirst} {T.activity.created(members)}
      </>
    );
  }
  const direction = directionOf(entry);
  if (direction === undefined) return <Done entry={entry} group={group} first={groupFirst} />;
  const people = <People of={changes} entry={entry} more={missing} />;
  if (action.startsWith(DRIFT)) {
    return (
      <>
        <Actor of={entry} /> {T.activity.drifted[direction]} {people} {T.activity.place[direction]} {group}
      </>
    );
  }
  return (
    <>
      {people} {T.activity.moved[direction]} {group}
    </>
  );
}

const Actor = ({ of }: { readonly of: Entry }) => <span class="name">{actorText(of)}</span>;

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
        <Actor of={entry} /> {T.activity.decides[action]}{' '}
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
          <Actor of={entry} /> {text}
          {entry.group !== null && <>: {group}</>}
        </>
      ) : (
        <>
          {first} {text}
          {action.startsWith(DRIFT) && ` ${T.activity.by.drift} ${actorText(entry)}`}
        </>
      )}
      {list !== '' && <span class="muted"> ({list})</span>}
    </>
  );
}

const UNDONE = /^drift [^;]+; \w+ by (.+)$/u;

/** Why the change happened, with links to its approval and its delivery. */
function Why({ entry }: { readonly entry: Entry }) {
  const { cause, changes, group, actor } = entry;
  const [first] = changes;
  const direction = directionOf(entry);
  const [, other] = UNDONE.exec(first?.cause ?? '') ?? [];
  if (other !== undefined) return <span class="muted">: {T.activity.undoes(other)}</span>;
  if (first === undefined || (direction === undefined && first.event === null)) {
    const given = actor.kind === 'operator' ? cause.replace(`${actor.id}: `, '') : withoutAnswer(cause);
    return given === '' || given === actor.id ? null : <span class="muted">: {given}</span>;
  }
  const { approved, event, reason } = first;
  const isReason = changes.every((change) => change.reason === reason);
  const isGiven = isReason && (direction === 'removed' || event === null);
  return (
    <span class="muted">
      : {T.activity.by[direction ?? 'other']} <Actor of={entry} />
      {isGiven && ` ${T.activity.because} ${reason}`}
      {approved !== null && (
        <>
          , <a href={pathTo('holds', group ?? '')}>{T.activity.approvedBy(approved.by)}</a> ({approved.reason}
          )
        </>
      )}
      <Delivered of={changes} />
    </span>
  );
}

/** The lifetime of a delivery: `DELIVERY_LIFETIME_MS` of the store. */
const KEPT_MS = 30 * 86_400_000;

/** A link to the delivery of an event; only the text if the delivery has expired. */
export function DeliveryLink(props: NonNullable<Change['event']> & { children: ComponentChildren }) {
  const { id, at, children } = props;
  if (at !== null && Date.parse(at) < nowMs.value - KEPT_MS)
    return <span title={T.deliveries.expired}>{children}</span>;
  return <a href={pathTo('deliveries', '', { event: id, from: at ?? '' })}>{children}</a>;
}

/** A link to the delivery of the first event, and the number of the other events. */
function Delivered({ of }: { readonly of: readonly Change[] }) {
  const events = new Map(of.flatMap(({ event }) => (event === null ? [] : [[event.id, event]])));
  const [event, ...others] = events.values();
  if (event === undefined) return null;
  return (
    <>
      {' '}
      · <DeliveryLink {...event}>{T.activity.delivery}</DeliveryLink>
      {others.length > 0 && `${T.activity.and}${T.activity.others(others.length)}`}
    </>
  );
}

export function changeText(change: Change, entry: Entry): string {
  const { kind, before, after, reason } = change;
  if (kind.endsWith('_setting')) return settingDifference(reason, before, after);
  const { id, known } = personOf(change, entry);
  const kindText = T.activity.kinds[kind]?.(known === undefined ? id : personName(known));
  if (kindText !== undefined) return kindText;
  return before !== null && after !== null
    ? `${short(before)} → ${short(after)}`
    : short(after ?? before ?? '');
}

const LONGEST = 80;
const short = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text);
