import type { GroupDetail } from '../answers.ts';
import { Ask, perform, performNow } from './actions.tsx';
import { Pause } from './groups.tsx';
import { Button } from './parts.tsx';
import { pathTo } from './route.ts';
import { T } from './texts.ts';

interface Props {
  readonly detail: GroupDetail;
  readonly open: OpenPart;
  readonly setOpen: (open: OpenPart) => void;
}

export type OpenPart = 'plan' | 'adopt' | null;

/** The actions that are possible now. The action that the group needs is the primary button. */
export function GroupActions({ detail, open, setOpen }: Props) {
  const { id, name, state, platformId } = detail.status;
  const called = name ?? id;
  const groups = [id];
  const needs = needOf(detail);
  const isPaused = state === 'paused';
  return (
    <>
      <Button isOpen={open === 'plan'} onClick={() => setOpen(open === 'plan' ? null : 'plan')}>
        {T.group.plan}
      </Button>
      {!isPaused && <Pause groups={groups} />}
      {platformId === null ? (
        <Button
          use="adopt"
          isOpen={open === 'adopt'}
          onClick={() => setOpen(open === 'adopt' ? null : 'adopt')}
        >
          {T.adoption.adopt}
        </Button>
      ) : (
        <Ask
          title={T.group.releaseTitle(called)}
          text={T.group.releaseText}
          use="release"
          verb={T.group.release}
          danger
          run={() => perform('release', { group: id }, T.group.released)}
        />
      )}
      <Button
        use="sync"
        kind={needs === 'retry' ? 'primary' : undefined}
        onClick={() => performNow('sync', { groups }, T.group.synced)}
      >
        {needs === 'retry' ? T.group.retry : T.group.sync}
      </Button>
      {needs === 'decision' && (
        <a class="button primary" href={pathTo('holds', id)}>
          {T.group.review(detail.status.hold?.removes ?? 0)}
        </a>
      )}
      {isPaused && (
        <Button
          use="resume"
          kind={needs === 'resume' ? 'primary' : undefined}
          onClick={() => performNow('resume', { groups, seenMs: detail.pausedAtMs }, T.groups.resumed(1))}
        >
          {T.groups.resume}
        </Button>
      )}
    </>
  );
}

/** What the group needs from an operator; undefined if it needs nothing. */
function needOf({ held, status }: GroupDetail): 'decision' | 'resume' | 'retry' | undefined {
  if (held) return 'decision';
  if (status.state === 'paused') return 'resume';
  return status.state === 'failed' ? 'retry' : undefined;
}
