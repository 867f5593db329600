import type { BlockedAnswer, BlockRow } from '../answers.ts';
import { Ask, showToast } from './actions.tsx';
import { post } from './net.ts';
import { Section, Time } from './parts.tsx';
import { T } from './texts.ts';

interface Acting {
  readonly person: string;
  readonly called: string;
  readonly reload: () => Promise<void>;
}

export function Block({ person, called, reload }: Acting) {
  return (
    <Ask
      kind="danger"
      title={T.block.title(called)}
      text={T.block.text}
      use="block"
      verb={T.block.block}
      needsReason
      danger
      run={async ({ reason }) => {
        const response = await post('block', { person, reason });
        const { outcome, groups } = (await response.json()) as BlockedAnswer;
        const waiting = groups.filter((one) => one.outcome === 'waiting');
        const names = waiting.map(({ group, name }) => name ?? group);
        showToast(outcome === 'blocked' ? T.block.done(names) : T.block.already, names.length > 0);
        await reload();
      }}
    />
  );
}

export function Unblock({ person, called, reload }: Acting) {
  return (
    <Ask
      title={T.block.unblockTitle(called)}
      text={T.block.unblockText}
      use="unblock"
      verb={T.block.unblock}
      run={async () => {
        const { outcome } = (await (await post('unblock', { person })).json()) as { outcome: string };
        showToast(T.block.unblockDone[outcome] ?? outcome);
        await reload();
      }}
    />
  );
}

export function BlockNotice({ of: { at, by, reason, unblockRequestedBy } }: { readonly of: BlockRow }) {
  return (
    <p class="notice warn">
      <b>{T.block.blocked}</b> <Time at={at} /> · {by} · {reason}
      {unblockRequestedBy !== null && ` · ${T.block.requested(unblockRequestedBy)}`}
    </p>
  );
}

/** All blocked people, also people without a page, because no event has named them. */
export function BlockedPeople({ of, reload }: Pick<Acting, 'reload'> & { readonly of: readonly BlockRow[] }) {
  if (of.length === 0) return null;
  return (
    <Section title={T.block.people}>
      <ul class="list">
        {of.map((row) => {
          const ids = [...row.members, ...row.roles, ...row.users];
          const [person = ''] = ids;
          return (
            <li key={person}>
              <code>{ids.join(', ')}</code>
              <BlockNotice of={row} />
              <Unblock person={person} called={person} reload={reload} />
            </li>
          );
        })}
      </ul>
    </Section>
  );
}
