import { useEffect, useState } from 'preact/hooks';
import type { AdoptionPreview, NamedPlan, PlatformGroupRow, PlatformGroupsReport } from '../answers.ts';
import { matchesText } from '../search.ts';
import { performNow } from './actions.tsx';
import { post, useAnswer } from './net.ts';
import { Answered, Button, Empty, Failure, Field, Section } from './parts.tsx';
import { T } from './texts.ts';

export interface PairToAdopt {
  readonly group: string;
  readonly platformId: string;
}

interface AdoptionProps {
  readonly pairs: readonly PairToAdopt[];
  readonly done: () => void;
  readonly cancel: () => void;
}

/**
 * Shows the changes that the adoption of these pairs would cause, and a button that adopts the pairs without a problem.
 */
export function Adoption({ pairs, done, cancel }: AdoptionProps) {
  const key = JSON.stringify(pairs);
  const [state, setState] = useState<readonly AdoptionPreview[] | Error | null>(null);
  useEffect(() => {
    setState(null);
    post('preview-adoptions', { pairs })
      .then(async (answer) => setState((await answer.json()).adoptions))
      .catch(setState);
  }, [key]);
  const previews = Array.isArray(state) ? (state as readonly AdoptionPreview[]) : [];
  const possible = previews.filter(({ problem }) => problem === null);
  const [reason, setReason] = useState('');
  const adopt = () =>
    performNow(
      'adopt',
      {
        pairs: possible.map(({ group, platformId, digest }) => ({ group, platformId, digest })),
        ...(reason.trim() !== '' && { reason }),
      },
      T.adoption.adopted(possible.length),
    ).then(done);
  return (
    <Section title={T.adoption.previewTitle(pairs.length)}>
      <div role="status">
        {state === null && <p class="muted">{T.adoption.planning}</p>}
        {state instanceof Error && <Failure>{state.message}</Failure>}
        <ul class="plan">
          {previews.map((preview) => (
            <li key={preview.platformId}>
              <span>
                {T.adoption.becomes(preview.name ?? preview.platformId, preview.groupName)}
                <small class="muted block">{preview.problem ?? T.adoption.effect(preview)}</small>
              </span>
            </li>
          ))}
        </ul>
      </div>
      {possible.some(({ digest }) => digest !== null) && (
        <Field label={T.adoption.reason} hint={T.reasonHint} value={reason} onInput={setReason} />
      )}
      <div class="actions plan-actions">
        <Button
          use="adopt"
          kind="primary"
          not={possible.length === 0 ? T.adoption.notNow : undefined}
          onClick={adopt}
        >
          {T.adoption.adoptAll(possible.length)}
        </Button>
        <Button onClick={cancel}>{T.cancel}</Button>
      </div>
    </Section>
  );
}

const SHOWN = 20;

/** Lists the groups of the platform that this directory group could adopt. Matching groups come first. */
export function ChoosePlatformGroup({ group, done }: { readonly group: string; readonly done: () => void }) {
  const loadable = useAnswer<PlatformGroupsReport>('platformGroups', {}, false);
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState<string | null>(null);
  const cancel = () => setChosen(null);
  if (chosen !== null)
    return <Adoption pairs={[{ group, platformId: chosen }]} done={done} cancel={cancel} />;
  return (
    <Section title={T.adoption.pickTitle}>
      <p class="muted">{T.adoption.hint}</p>
      <Answered loadable={loadable}>
        {({ groups }) => {
          const free = groups.filter(({ state }) => state !== 'managed');
          const found = free
            .filter(({ platformId, name, spokeId }) => matchesText([platformId, name, spokeId], text))
            .toSorted((a, b) => Number(matches(b, group)) - Number(matches(a, group)));
          if (free.length === 0) return <Empty title={T.adoption.pickEmpty} />;
          return (
            <>
              <Field type="search" label={T.adoption.search} unseenLabel value={text} onInput={setText} />
              {found.length === 0 && <Empty title={T.groups.none} />}
              <ul class="list">
                {found.slice(0, SHOWN).map((row) => (
                  <li key={row.platformId}>
                    <span class="who">
                      <span>{row.name ?? T.adoption.unnamed}</span>
                      <small class="muted">
                        {[row.platformId, T.adoption.users(row.users ?? 0), proofOf(row, group)]
                          .filter((part) => part !== undefined)
                          .join(' · ')}
                      </small>
                    </span>
                    <Button
                      use="preview-adoptions"
                      label={T.adoption.previewOf(row.name ?? row.platformId)}
                      onClick={() => setChosen(row.platformId)}
                    >
                      {T.adoption.previewOne}
                    </Button>
                  </li>
                ))}
              </ul>
              {found.length > SHOWN && <p class="muted">{T.adoption.more(found.length - SHOWN)}</p>}
            </>
          );
        }}
      </Answered>
    </Section>
  );
}

const matches = (row: PlatformGroupRow, group: string) => row.matches.some((one) => one.group === group);

const proofOf = (row: PlatformGroupRow, group: string) =>
  row.matches.filter((one) => one.group === group).map(({ by }) => T.adoption.by[by])[0];

export function Clashes({ group, clashes }: Pick<NamedPlan, 'group' | 'clashes'>) {
  const [chosen, setChosen] = useState<string | null>(null);
  const close = () => setChosen(null);
  if (clashes.length === 0) return null;
  return (
    <div class="notice warn">
      {clashes.map(({ platformId, name }) => (
        <div key={platformId}>
          <p>{T.adoption.clash(name, platformId)}</p>
          <div class="actions">
            <Button
              use="preview-adoptions"
              label={T.adoption.previewOf(name)}
              onClick={() => setChosen(platformId)}
            >
              {T.adoption.preview(1)}
            </Button>
            <Button
              use="create-namesake"
              onClick={() => performNow('create-namesake', { group }, T.adoption.creating)}
            >
              {T.adoption.createAnother}
            </Button>
          </div>
        </div>
      ))}
      {chosen !== null && <Adoption pairs={[{ group, platformId: chosen }]} done={close} cancel={close} />}
    </div>
  );
}
