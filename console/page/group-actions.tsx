import type { GroupDetail } from '../answers.ts';
import { Ask, perform, performNow } from './actions.tsx';
import { Pause } from './groups.tsx';
import { Button, Toggle } from './parts.tsx';
import { pathTo } from './route.ts';
import { T } from './texts.ts';

interface Props {
  readonly detail: GroupDetail;
  readonly showsPlan: boolean;
  readonly togglePlan: (shows: boolean) => void;
}

/** The actions that are possible now. The last one is the action that the group needs. */
export function GroupActions({ detail, showsPlan, togglePlan }: Props) {
  const { id, name, state, platformId } = detail.status;
  const called = name ?? id;
  const groups = [id];
  const needs = needOf(detail);
  const isPaused = state === 'paused';
  return (
    <>
      <Toggle isOpen={showsPlan} set={togglePlan}>
        {T.group.plan}
      </Toggle>
      {!isPaused && <Pause groups={groups} />}
      {platformId === null ? (
        <Ask
          title={T.group.adoptTitle}
          text={T.group.adoptText}
          verb={T.group.adopt}
          field={{ label: T.group.adoptId }}
          run={({ value }) => perform('adopt', { group: id, platformId: value.trim() }, T.group.adopted)}
        />
      ) : (
        <Ask
          title={T.group.releaseTitle(called)}
          text={T.group.releaseText}
          verb={T.group.release}
          danger
          run={() => perform('release', { group: id }, T.group.released)}
        />
      )}
      {needs !== 'retry' && (
        <Button onClick={() => performNow('sync', { groups }, T.group.synced)}>{T.group.sync}</Button>
      )}
      {needs === 'decision' && (
        <a class="button primary" href={pathTo('holds', id)}>
          {T.group.review(detail.status.hold?.removes ?? 0)}
        </a>
      )}
      {needs === 'retry' && (
        <Button kind="primary" onClick={() => performNow('sync', { groups }, T.group.synced)}>
          {T.group.retry}
        </Button>
      )}
      {isPaused && (
        <Button
          kind={needs === 'resume' ? 'primary' : undefined}
          onClick={() => performNow('resume', { groups }, T.groups.resumed(1))}
        >
          {T.group.resume}
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
