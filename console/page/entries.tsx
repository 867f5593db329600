import { useState } from 'preact/hooks';
import type { Entry } from '../answers.ts';
import { exact } from './format.ts';
import { Button, Chevron, Empty, Facts, Reason, Time } from './parts.tsx';
import { actionText, actorText, changeText, DeliveryLink, outcomeText, Sentence } from './sentence.tsx';
import { T } from './texts.ts';

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

/** One sentence per entry. Ids, the version and all changes are behind Details. */
export function EntryLine({ entry, group = true, open = false }: EntryProps) {
  const [isOpen, setOpen] = useState(open);
  const { at, action, actor, groupName } = entry;
  return (
    <li class={`entry by-${actor.kind}`}>
      <Time at={at} />
      <p>
        <Sentence entry={entry} isNamed={group} />
      </p>
      <Button
        kind="quiet"
        isOpen={isOpen}
        onClick={() => setOpen(!isOpen)}
        label={T.activity.detailsOf(actionText(action), groupName ?? '')}
      >
        <Chevron />
      </Button>
      {isOpen && <EntryDetails entry={entry} />}
    </li>
  );
}

function EntryDetails({ entry }: { readonly entry: Entry }) {
  const { at, outcome, changes, changeCount, cause, version } = entry;
  return (
    <div class="entry-details">
      <p class="changes">
        {changes.map((change, index) => (
          <span key={index} title={change.reason}>
            {changeText(change, entry)}{' '}
            {change.event !== null && <DeliveryLink {...change.event}>{T.activity.delivery}</DeliveryLink>}
          </span>
        ))}
        {changeCount > changes.length && <span>{T.activity.more(changeCount - changes.length)}</span>}
      </p>
      <Facts
        of={[
          [T.activity.actor, actorText(entry)],
          [T.activity.outcome, outcomeText(outcome)],
          [T.activity.cause, <Reason key="cause">{cause}</Reason>],
          [T.activity.version, version],
          [T.activity.time, exact(at)],
        ]}
      />
    </div>
  );
}
