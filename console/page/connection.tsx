import { useState } from 'preact/hooks';
import type { Checks, ConnectionPage, TokenLine } from '../answers.ts';
import { Ask, ask, perform, performNow, showToast } from './actions.tsx';
import { BlockedPeople } from './block.tsx';
import { duration } from './format.ts';
import { get, post, useAnswer } from './net.ts';
import { Answered, Button, Empty, Facts, Failure, Page, Reason, Section, Time } from './parts.tsx';
import { connection } from './route.ts';
import { Sessions } from './sessions.tsx';
import { Settings } from './settings.tsx';
import { T } from './texts.ts';

export function Connection() {
  const loadable = useAnswer<ConnectionPage>('connection');
  return (
    <Answered loadable={loadable}>
      {(page) => (
        <Page title={T.conn.titleOf(connection.value)} aside={<Gate {...page} />}>
          <Credential {...page} />
          <Doctor />
          <Requests of={page.requests} reload={loadable.reload} />
          <BlockedPeople of={page.blocked} reload={loadable.reload} />
          <Settings {...page} reload={loadable.reload} />
          <Tokens of={page.tokens} scimUrl={page.scimUrl} reload={loadable.reload} />
          <Sessions />
        </Page>
      )}
    </Answered>
  );
}

function Gate({ row, backlog }: ConnectionPage) {
  // Only another credential, or a valid setting, opens these writes.
  if (row.gate === 'unauthorized' || row.gate === 'invalid_settings') return null;
  const undo = () => performNow('resume-all', {}, T.conn.resumed);
  if (row.gate === 'open' && !row.observing) {
    return (
      <Ask
        title={T.conn.pauseTitle}
        text={T.conn.pauseText}
        use="pause-all"
        verb={T.conn.pause}
        needsReason
        run={({ reason }) => perform('pause-all', { reason }, T.conn.paused, undo)}
      />
    );
  }
  return (
    <Ask
      kind="primary"
      title={T.conn.resumeTitle}
      text={T.conn.resumeText(backlog)}
      use="resume-all"
      verb={T.conn.resume}
      run={() => perform('resume-all', { seen: row }, T.conn.resumed)}
    />
  );
}

/** Example: “last received about 3 min ago, expected every 5 min” */
function formatFreshness(row: ConnectionPage['sources'][number]): string {
  const { expectedEveryMs, stopped } = row;
  if (stopped !== null) return T.conn.readerStopped;
  const received = formatReceipt(row);
  return expectedEveryMs === null ? received : received + T.conn.sourceExpected(duration(expectedEveryMs));
}

/** The stored time may be up to a minute too early, so a younger receipt has no shown age. */
const YOUNG_MS = 120_000;

function formatReceipt({ source, receivedAgeMs }: ConnectionPage['sources'][number]): string {
  if (receivedAgeMs === null) return T.conn.sourceNever;
  if (receivedAgeMs < YOUNG_MS) return T.conn.sourceYoung;
  const text = T.conn.sourceReceived(duration(receivedAgeMs));
  return source === 'events' ? `${text} ${T.conn.eventsOnly}` : text;
}

const nameOfSource = ({ source }: ConnectionPage['sources'][number]): string =>
  T.conn.sources[source] ?? source;

function formatReader({ states, freshness, differing }: NonNullable<ConnectionPage['reader']>): string {
  const counts = Object.entries(states).filter(([, count]) => count > 0);
  const parts = [T.conn.readerStates(counts)];
  if (freshness?.shortGroups) parts.push(T.conn.readerShort(freshness.shortGroups));
  if (differing > 0) parts.push(T.conn.readerDiffering(differing));
  return parts.join(', ');
}

function Stopped({ reader }: Pick<ConnectionPage, 'reader'>) {
  const stopped = reader?.freshness?.stopped;
  if (!stopped) return null;
  return (
    <p class="notice bad">
      <strong>{T.conn.readerStopped}</strong> <Time at={stopped.since} />.{' '}
      <span class="lines">{stopped.reason}</span>
    </p>
  );
}

function Credential({ row, credential, tasks, sources, keptMembers, openMoves, reader }: ConnectionPage) {
  const gate = row.observing ? T.conn.observing : (T.conn.gates[row.gate] ?? row.gate);
  return (
    <>
      {row.gate !== 'open' && (
        <p class={`notice ${row.gate === 'unauthorized' ? 'bad' : 'warn'}`}>
          <strong>{gate}</strong> <Time at={row.since} />. <Reason>{row.reason}</Reason>
          {row.gate === 'unauthorized' && ` ${T.conn.replace(row.name)}`}
        </p>
      )}
      {credential.failure !== null && credential.failure.message !== row.reason && (
        <p class="notice bad">
          <strong>{T.home.credential}</strong> <Time at={credential.failure.at} />.{' '}
          <Reason>{credential.failure.message}</Reason>
        </p>
      )}
      <Stopped reader={reader} />
      {sources
        .filter(({ late }) => late)
        .map((one) => (
          <p class="notice bad" key={one.source}>
            <strong>{T.conn.sourceLate(nameOfSource(one))}</strong> {formatFreshness(one)}
          </p>
        ))}
      <Facts
        of={[
          [T.conn.gate, gate],
          [T.conn.company, row.company],
          [T.conn.platform, row.baseUrl],
          [T.conn.goodAt, <GoodAt key="good" row={row} credential={credential} />],
          ...tasks.map(([task, text]) => [T.conn.tasks[task], text] as const),
          ...sources.map((one) => [nameOfSource(one), formatFreshness(one)] as const),
          ...(openMoves === null ? [] : [[T.conn.openMoves, openMoves] as const]),
          ...(keptMembers === null ? [] : [[T.conn.keptMembers, keptMembers] as const]),
          ...(reader === null ? [] : [[T.conn.reader, formatReader(reader)] as const]),
          ...(reader?.oldestReadAt
            ? [[T.conn.readerOldest, <Time key="oldest" at={reader.oldestReadAt} />] as const]
            : []),
        ]}
      />
    </>
  );
}

function GoodAt({ row, credential }: Pick<ConnectionPage, 'row' | 'credential'>) {
  if (credential.goodAt !== null) return <Time at={credential.goodAt} />;
  const isRefused = row.gate === 'unauthorized' || credential.failure !== null;
  return <>{isRefused ? T.conn.refused : T.conn.never}</>;
}

function Doctor() {
  const [state, setState] = useState<'' | 'busy' | Checks | Error>('');
  const run = async () => {
    setState('busy');
    setState(await get<Checks>('doctor').catch((error: Error) => error));
  };
  const checks = typeof state === 'object' && 'checks' in state ? state.checks : [];
  const faults = checks.filter(({ ok }) => !ok);
  const left = checks.filter(({ notRun }) => notRun);
  const passed = checks.filter(({ ok, notRun }) => ok && !notRun);
  return (
    <Section
      title={T.conn.doctor}
      aside={
        <Button onClick={run} use="doctor" not={state === 'busy' ? T.loading : undefined}>
          {checks.length === 0 ? T.conn.doctorRun : T.conn.doctorAgain}
        </Button>
      }
    >
      <p class="muted" role="status">
        {state === '' && T.conn.doctorHint}
        {state === 'busy' && `${T.loading} …`}
        {checks.length > 0 && T.conn.result(faults.length, left.length)}
      </p>
      {state instanceof Error && <Failure>{state.message}</Failure>}
      <Results of={[...faults, ...left]} />
      {passed.length > 0 && (
        <details open={faults.length === 0}>
          <summary>{T.conn.passed(passed.length)}</summary>
          <Results of={passed} />
        </details>
      )}
    </Section>
  );
}

function classOf(ok: boolean, notRun = false): string {
  if (notRun) return 'off';
  return ok ? 'ok' : 'bad';
}

const Results = ({ of }: { readonly of: Checks['checks'] }) => (
  <ul class="checks">
    {of.map(({ name, ok, notRun, detail, fix }) => (
      <li key={name + detail} class={classOf(ok, notRun)}>
        <b>{name}</b>
        <span>
          {notRun && T.conn.notRun}
          {!notRun && <span class="unseen">{ok ? T.conn.ok : T.conn.fault}: </span>}
          {detail}
          {fix !== null && (
            <small class="block">
              {T.conn.fix} {fix}
            </small>
          )}
        </span>
      </li>
    ))}
  </ul>
);

const Copy = ({ text }: { readonly text: string }) => (
  <Button onClick={() => navigator.clipboard.writeText(text).then(() => showToast(T.conn.copied))}>
    {T.conn.copy}
  </Button>
);

interface Reloading {
  readonly reload: () => Promise<void>;
}

/** Requested changes of settings, which another person must confirm (four eyes). */
function Requests({ of, reload }: Reloading & { readonly of: ConnectionPage['requests'] }) {
  if (of.length === 0) return null;
  const decide = (isConfirmed: boolean, done: string) => () =>
    perform('decide-requests', { isConfirmed, shown: of }, done).then(reload);
  return (
    <Section title={T.conn.requests}>
      <div class="notice warn">
        <ul class="plain">
          {of.map(({ key, before, after, by, at }) => (
            <li key={`${key} ${before} ${after}`}>
              <b>{key}</b> <code>{before}</code> → <code>{after}</code> · {by} · <Time at={at} />
            </li>
          ))}
        </ul>
        <div class="actions">
          <Ask
            title={T.conn.confirmTitle}
            text={T.conn.confirmText}
            use="decide-requests"
            verb={T.conn.confirm}
            run={decide(true, T.conn.confirmed)}
          />
          <Ask
            title={T.conn.rejectTitle}
            text={T.conn.rejectText}
            use="decide-requests"
            verb={T.conn.reject}
            run={decide(false, T.conn.rejected)}
          />
        </div>
      </div>
    </Section>
  );
}

interface TokensProps extends Reloading {
  readonly of: readonly TokenLine[];
  readonly scimUrl: string | null;
}

function Tokens({ of, scimUrl, reload }: TokensProps) {
  const [made, setMade] = useState('');
  const make = () =>
    ask({
      title: T.conn.createToken,
      text: T.conn.createText,
      verb: T.conn.createToken,
      field: { label: T.conn.days, isNumber: true, optional: true },
      run: async ({ value }) => {
        const days = value.trim() === '' ? null : Number(value);
        if (Number.isNaN(days)) throw new Error(T.conn.daysExpected);
        const { token } = (await (await post('make-token', { days })).json()) as { token: string };
        setMade(token);
        await reload();
      },
    });
  return (
    <Section
      title={T.conn.tokens}
      aside={
        <Button use="make-token" onClick={make}>
          {T.conn.createToken}
        </Button>
      }
    >
      {scimUrl !== null && (
        <p class="copied">
          <span class="muted">{T.conn.scimUrl}</span> <code>{scimUrl}</code> <Copy text={scimUrl} />
        </p>
      )}
      {made !== '' && (
        <div class="notice warn" role="status">
          <p>{T.conn.newToken}</p>
          <code>{made}</code> <Copy text={made} />
        </div>
      )}
      {of.length === 0 ? (
        <Empty title={T.conn.noTokens} />
      ) : (
        <ul class="list">
          {of.map(({ prefix, client, state, createdAt, expiresAt, lastUsedAt }) => (
            <li key={prefix}>
              <code>{prefix}…</code>
              {client !== null && <span>{T.conn.secretOf(client)}</span>}
              <span>{state}</span>
              <span class="grow muted small">
                {T.conn.tokenColumns.created} <Time at={createdAt} /> · {T.conn.tokenColumns.expires}{' '}
                {expiresAt === null ? T.conn.never2 : <Time at={expiresAt} />} · {T.conn.tokenColumns.used}{' '}
                {lastUsedAt === null ? T.conn.never2 : <Time at={lastUsedAt} />}
              </span>
              <Ask
                label={T.conn.revokeOf(prefix)}
                not={state === 'active' || state === 'requested' ? undefined : state}
                title={T.conn.revokeTitle(prefix)}
                text={T.conn.revokeText}
                use="revoke-token"
                verb={T.conn.revoke}
                danger
                run={() => perform('revoke-token', { prefix }, T.conn.revoked).then(reload)}
              />
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
