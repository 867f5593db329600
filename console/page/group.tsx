import { useState } from 'preact/hooks';
import type { GroupDetail, GroupPlan, MemberLine } from '../answers.ts';
import { ChoosePlatformGroup, Clashes } from './adoption.tsx';
import { Entries } from './entries.tsx';
import { minute, number } from './format.ts';
import { GroupActions, type OpenPart } from './group-actions.tsx';
import { useAnswer } from './net.ts';
import { Answered, Empty, Facts, Member, Page, Person, Section, State, Tabs, Time } from './parts.tsx';
import { id, pathTo, query } from './route.ts';
import { type Column, Table } from './table.tsx';
import { T } from './texts.ts';

export function Group() {
  const loadable = useAnswer<GroupDetail>('group', { group: id.value });
  return <Answered loadable={loadable}>{(detail) => <Shown {...detail} />}</Answered>;
}

type Tab = 'members' | 'history' | 'settings';

function Shown(detail: GroupDetail) {
  const { status, held, users, members, history, applies } = detail;
  const { id, name, state, platformId, version, lastWriteAt, dirtySince, lastError, wanted } = status;
  const { pending, waiting } = status;
  const [open, setOpen] = useState<OpenPart>(null);
  const tab = (query.value.get('tab') ?? 'members') as Tab;
  const facts: readonly (readonly [string, preact.ComponentChildren])[] = [
    [T.groups.columns.wanted, number(wanted)],
    [T.groups.columns.platform, users === null ? null : number(users)],
    [T.groups.columns.pending, number(pending.length)],
    [T.group.facts.write, <Time key="w" at={lastWriteAt} />],
    ...(dirtySince === null ? [] : [[T.group.facts.waiting, <Time key="d" at={dirtySince} />] as const]),
    [T.group.facts.id, id],
    [T.group.facts.platform, platformId],
    [T.group.facts.version, version],
  ];
  return (
    <Page
      title={
        <>
          {name ?? id} <State of={held ? 'held' : state} />
        </>
      }
      aside={<GroupActions detail={detail} open={open} setOpen={setOpen} />}
    >
      {held && status.hold !== null && <p class="notice warn">{T.group.heldText(status.hold.removes)}</p>}
      {waiting !== null && <p class="notice warn">{T.group.waits(minute(waiting.until), waiting.reason)}</p>}
      {lastError !== null && (
        <p class="notice bad">
          <strong>{T.group.facts.error}:</strong> {lastError.message} <Time at={lastError.at} />
        </p>
      )}
      <Facts of={facts} />
      {open === 'plan' && <Plan group={id} members={members} />}
      {open === 'adopt' && <ChoosePlatformGroup group={id} done={() => setOpen(null)} />}
      <Tabs
        label={T.group.tabs}
        current={tab}
        of={[
          ['members', `${T.group.members} · ${number(members.length)}`, pathTo('groups', id)],
          [
            'history',
            `${T.group.history} · ${number(history.length)}`,
            pathTo('groups', id, { tab: 'history' }),
          ],
          ['settings', T.group.settings, pathTo('groups', id, { tab: 'settings' })],
        ]}
      />
      {tab === 'members' && <Members members={members} />}
      {tab === 'history' && (
        <section class="card">
          <Entries of={history} none={T.group.noHistory} group={false} />
        </section>
      )}
      {tab === 'settings' && <Settings of={applies} />}
    </Page>
  );
}

function Settings({ of: { excluded, mode, settings } }: { readonly of: GroupDetail['applies'] }) {
  const texts = Object.entries(settings).map(([key, value]) => [
    key,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  const all = [['excluded', T.group.isExcluded(excluded)], ['mode', mode], ...texts];
  return (
    <section class="card">
      <div class="section-head">
        <p class="muted">{T.group.settingsHint}</p>
        <a href={pathTo('connection')}>{T.group.settingsLink}</a>
      </div>
      <ul class="settings">
        {all.map(([key = '', value]) => (
          <li key={key}>
            <div class="line">
              <b>{T.group.setting[key] ?? key}</b>
              <code>{value}</code>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Plan({ group, members }: { readonly group: string; readonly members: readonly MemberLine[] }) {
  const loadable = useAnswer<GroupPlan>('plan', { group });
  const memberOf = (user: string) => members.find((member) => member.user === user);
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
                  const who = memberOf(after ?? before ?? '');
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

/** Returns the sign of a change: + for added, − for removed, ± for changed. */
function signOf(before: string | null, after: string | null): string {
  if (before === null) return '+';
  return after === null ? '−' : '±';
}

/** Returns the state of a member as a key of `T.group.verdict`. */
function verdictOf({ directory, platform, pending, held }: MemberLine): string {
  if (pending !== null) return 'pending';
  if (held) return 'held';
  if (directory === platform) return 'same';
  return directory ? 'adding' : 'removing';
}

/** Shows words, because a dot or a circle would not be understood. */
const membership = (isMember: boolean) =>
  isMember ? <span>{T.group.yes}</span> : <span class="muted">{T.group.no}</span>;

const COLUMNS: readonly Column<MemberLine>[] = [
  {
    title: T.group.columns.name,
    of: (member) => <Member of={member} unknown={T.group.unknownMember} />,
  },
  {
    title: T.group.columns.directory,
    of: ({ directory }) => membership(directory),
    kind: 'roomy',
    width: '110px',
  },
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
  {
    title: T.group.columns.platform,
    of: ({ platform }) => membership(platform),
    kind: 'roomy',
    width: '110px',
  },
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
          columns={COLUMNS}
          count={shown.length}
          rowAt={(index) => shown[index]}
          keyOf={({ id, user }) => `${id} ${user}`}
        />
      )}
    </Section>
  );
}
