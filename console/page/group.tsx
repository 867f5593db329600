import { useState } from 'preact/hooks';
import type { GroupDetail, GroupPlan, MemberLine } from '../answers.ts';
import { Entries } from './activity.tsx';
import { minute, number } from './format.ts';
import { Pause } from './groups.tsx';
import { useAnswer } from './net.ts';
import {
  Answered,
  Ask,
  Button,
  Empty,
  Facts,
  Member,
  Page,
  Person,
  perform,
  performNow,
  Section,
  State,
  Time,
  Toggle,
} from './parts.tsx';
import { id, pathTo } from './route.ts';
import { type Column, Table } from './table.tsx';
import { T } from './texts.ts';

export function Group() {
  const loadable = useAnswer<GroupDetail>('group', { group: id.value });
  return <Answered loadable={loadable}>{(detail) => <Shown {...detail} />}</Answered>;
}

function Shown({ status, held, members, history }: GroupDetail) {
  const { id, name, state, platformId, version, lastWriteAt, dirtySince, lastError, wanted } = status;
  const { applied, pending, waiting } = status;
  const [showsPlan, setShowsPlan] = useState(false);
  const facts: readonly (readonly [string, preact.ComponentChildren])[] = [
    [T.group.facts.id, id],
    [T.group.facts.platform, platformId],
    [T.group.facts.version, version],
    [T.groups.columns.wanted, number(wanted)],
    [T.groups.columns.applied, number(applied)],
    [T.groups.columns.pending, number(pending.length)],
    [T.group.facts.write, <Time key="w" at={lastWriteAt} />],
    ...(dirtySince === null ? [] : [[T.group.facts.waiting, <Time key="d" at={dirtySince} />] as const]),
  ];
  return (
    <Page
      title={
        <>
          {name ?? id} <State of={held ? 'held' : state} />
        </>
      }
      aside={<Actions status={status} togglePlan={setShowsPlan} showsPlan={showsPlan} />}
    >
      {held && status.hold !== null && (
        <p class="notice warn">
          <a href={pathTo('hold', id)}>{T.group.holdLink(status.hold.removes)}</a>
        </p>
      )}
      {waiting !== null && <p class="notice warn">{T.group.waits(minute(waiting.until), waiting.reason)}</p>}
      {lastError !== null && (
        <p class="notice bad">
          <strong>{T.group.facts.error}:</strong> {lastError.message} <Time at={lastError.at} />
        </p>
      )}
      <Facts of={facts} />
      {showsPlan && <Plan group={id} members={members} />}
      <Members members={members} />
      <Section title={T.group.history}>
        <Entries of={history} none={T.group.noHistory} group={false} />
      </Section>
    </Page>
  );
}

interface ActionsProps {
  readonly status: GroupDetail['status'];
  readonly showsPlan: boolean;
  readonly togglePlan: (shows: boolean) => void;
}

function Actions({ status: { id, name, state, platformId }, showsPlan, togglePlan }: ActionsProps) {
  const called = name ?? id;
  const groups = [id];
  const resume = () => performNow('resume', { groups }, T.groups.resumed(1));
  return (
    <>
      <Toggle isOpen={showsPlan} set={togglePlan}>
        {T.group.plan}
      </Toggle>
      {state === 'paused' ? <Button onClick={resume}>{T.group.resume}</Button> : <Pause groups={groups} />}
      <Ask
        not={platformId === null ? undefined : T.group.adoptNot}
        title={T.group.adoptTitle}
        text={T.group.adoptText}
        verb={T.group.adopt}
        field={{ label: T.group.adoptId }}
        run={({ value }) => perform('adopt', { group: id, platformId: value.trim() }, T.group.adopted)}
      />
      <Ask
        not={platformId === null ? T.group.releaseNot : undefined}
        title={T.group.releaseTitle(called)}
        text={T.group.releaseText}
        verb={T.group.release}
        danger
        run={() => perform('release', { group: id }, T.group.released)}
      />
      <Button kind="primary" onClick={() => performNow('sync', { groups }, T.group.synced)}>
        {T.group.sync}
      </Button>
    </>
  );
}

function Plan({ group, members }: { readonly group: string; readonly members: readonly MemberLine[] }) {
  const loadable = useAnswer<GroupPlan>('plan', { group });
  const whoOf = (user: string) => members.find((member) => member.user === user);
  return (
    <Section title={T.group.planTitle}>
      <Answered loadable={loadable}>
        {({ action, changes, held, note, clashes }) => (
          <>
            <Clashes group={group} clashes={clashes} />
            {note !== null && <p class="notice warn">{note}</p>}
            {changes.length === 0 && held.length === 0 ? (
              <Empty title={T.group.planNone} />
            ) : (
              <ul class="plan" aria-label={action}>
                {changes.map(({ kind, before, after, reason }, index) => {
                  const who = whoOf(after ?? before ?? '');
                  return (
                    <li key={index}>
                      <b aria-hidden="true">{signOf(before, after)}</b>
                      <span>
                        {who === undefined ? (
                          [before, after].filter((side) => side !== null).join(' → ')
                        ) : (
                          <Person of={who} />
                        )}
                        <small class="muted block">
                          {kind.replaceAll('_', ' ')}: {reason}
                        </small>
                      </span>
                    </li>
                  );
                })}
              </ul>
            )}
          </>
        )}
      </Answered>
    </Section>
  );
}

/** Returns + for an added value, − for a removed one, ± for a changed one. */
function signOf(before: string | null, after: string | null): string {
  if (before === null) return '+';
  return after === null ? '−' : '±';
}

/** Platform groups that a new group would duplicate, each with a button to adopt it. */
function Clashes({ group, clashes }: Pick<GroupPlan, 'group' | 'clashes'>) {
  return (
    <>
      {clashes.map(({ platformId, name }) => (
        <div key={platformId} class="notice warn">
          <p>{T.group.clash(name, platformId)}</p>
          <Ask
            title={T.group.clashTitle(name)}
            text={T.group.adoptText}
            verb={T.group.adopt}
            run={() => perform('adopt', { group, platformId }, T.group.adopted)}
          />
        </div>
      ))}
    </>
  );
}

/** Returns the state of a member as a key of `T.group.verdict`. */
function verdictOf({ directory, platform, pending, held }: MemberLine): string {
  if (pending !== null) return 'pending';
  if (held) return 'held';
  if (directory === platform) return 'same';
  return directory ? 'adding' : 'removing';
}

export const membershipMark = (isMember: boolean) =>
  isMember ? (
    <span class="yes">
      <span aria-hidden="true">●</span> <span class="unseen">{T.group.yes}</span>
    </span>
  ) : (
    <span class="muted">
      <span aria-hidden="true">○</span> <span class="unseen">{T.group.no}</span>
    </span>
  );

const COLUMNS: readonly Column<MemberLine>[] = [
  {
    title: T.group.columns.name,
    of: (member) => <Member of={member} unknown={T.group.unknownMember} />,
  },
  { title: T.group.columns.directory, of: ({ directory }) => membershipMark(directory), kind: 'roomy' },
  {
    title: T.group.columns.groupsync,
    of: (member) => {
      const verdict = verdictOf(member);
      return (
        <span class="who">
          <span class={`verdict ${verdict}`}>{T.group.verdict[verdict]}</span>
          {member.pending !== null && (
            <small class="muted">{T.pending[member.pending] ?? member.pending}</small>
          )}
        </span>
      );
    },
  },
  { title: T.group.columns.platform, of: ({ platform }) => membershipMark(platform), kind: 'roomy' },
];

function Members({ members }: { readonly members: readonly MemberLine[] }) {
  const differing = members.filter((member) => verdictOf(member) !== 'same');
  const [all, setAll] = useState(false);
  const shown = all ? members : differing;
  const tabs = [
    [false, `${T.group.differ} · ${number(differing.length)}`],
    [true, `${T.group.all} · ${number(members.length)}`],
  ] as const;
  return (
    <Section
      title={T.group.members}
      aside={
        <div class="chips" role="group" aria-label={T.group.members}>
          {tabs.map(([value, text]) => (
            <button
              key={String(value)}
              type="button"
              class="chip"
              aria-pressed={all === value}
              onClick={() => setAll(value)}
            >
              {text}
            </button>
          ))}
        </div>
      }
    >
      {shown.length === 0 ? (
        <Empty title={members.length === 0 ? T.group.noMembers : T.group.allSame} />
      ) : (
        <Table
          label={T.group.members}
          name="of-members"
          columns={COLUMNS}
          count={shown.length}
          rowAt={(index) => shown[index]}
          keyOf={({ id, user }) => `${id} ${user}`}
        />
      )}
    </Section>
  );
}
