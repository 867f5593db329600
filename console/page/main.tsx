import { options, render } from 'preact';
import type { Live } from '../answers.ts';
import { AskDialog, Toast } from './actions.tsx';
import { Activity } from './activity.tsx';
import { admit } from './admission.ts';
import { Connection } from './connection.tsx';
import { DeadLetter } from './dead-letter.tsx';
import { DeadLetters } from './dead-letters.tsx';
import { Deliveries } from './deliveries.tsx';
import { EveryConnection } from './every-connection.tsx';
import { Find, FindButton } from './find.tsx';
import { minute, number, visible } from './format.ts';
import { Group } from './group.tsx';
import { Groups } from './groups.tsx';
import { Hold } from './hold.tsx';
import { Holds } from './holds.tsx';
import { Home } from './home.tsx';
import { goneSince, listen, live, nowMs } from './net.ts';
import { Empty, Page } from './parts.tsx';
import { People, Person } from './person.tsx';
import { PlatformGroups } from './platform-groups.tsx';
import { connection, go, id, page, pagesOf, pathTo } from './route.ts';
import { SessionEnded, SignedIn } from './signed-in.tsx';
import { T } from './texts.ts';

const PAGES = {
  home: Home,
  holds: () => (id.value === '' ? <Holds /> : <Hold key={id.value} />),
  groups: () => (id.value === '' ? <Groups /> : <Group key={id.value} />),
  'platform-groups': PlatformGroups,
  people: () => (id.value === '' ? <People /> : <Person key={id.value} />),
  activity: Activity,
  deliveries: Deliveries,
  'dead-letters': () => (id.value === '' ? <DeadLetters /> : <DeadLetter key={id.value} />),
  connection: Connection,
} as const;

const NAV = Object.keys(T.nav) as (keyof typeof T.nav)[];

function App() {
  const name = page.value;
  const section = name === 'platform-groups' ? 'groups' : name;
  const isEvery = connection.value === '';
  const OfConnection = Object.hasOwn(PAGES, name) ? PAGES[name as keyof typeof PAGES] : NotFound;
  return (
    <>
      <button type="button" class="skip" onClick={() => document.querySelector<HTMLElement>('main')?.focus()}>
        {T.skip}
      </button>
      <header class="top">
        <a class="brand" href={pathTo('home')}>
          <img src="/icon.svg" alt="" width="22" height="22" /> groupsync
        </a>
        <nav aria-label={T.sections}>
          {isEvery
            ? []
            : NAV.map((target) => (
                <a key={target} href={pathTo(target)} aria-current={target === section ? 'page' : undefined}>
                  {T.nav[target]}
                  <Waiting of={target} />
                </a>
              ))}
        </nav>
        {!isEvery && <FindButton />}
        <Connections />
        <SignedIn />
      </header>
      <SessionEnded />
      {goneSince.value !== null && (
        <p class="notice bad gone" role="alert">
          <strong>{T.live.gone}.</strong> {T.live.retry} {T.goneNote} {minute(goneSince.value)}.
        </p>
      )}
      <Stopped />
      <main id="content" tabIndex={-1}>
        {isEvery ? <EveryConnection /> : <OfConnection key={`${connection.value} ${name}`} />}
      </main>
      <AskDialog />
      <Find />
      <Toast />
    </>
  );
}

/** The number of holds or dead-lettered messages that wait for an operator. */
function Waiting({ of }: { readonly of: (typeof NAV)[number] }) {
  const { holds, deadLetters } = live.value ?? {};
  const count = { holds, 'dead-letters': deadLetters }[of as string] ?? 0;
  return count > 0 ? <b class="count">{number(count)}</b> : null;
}

/** The connection as the last live line describes it; undefined on the page of all connections. */
const rowNow = () => live.value?.connections?.find(({ name }) => name === connection.value);

/** On pages that do not show it themselves: why nothing is written, and the step that helps. */
function Stopped() {
  const row = rowNow();
  if (row === undefined || (row.gate === 'open' && !row.observing)) return null;
  if (page.value === 'home' || page.value === 'connection') return null;
  return (
    <p role="status" class={`notice stopped ${isBlocked(row) ? 'bad' : 'warn'}`}>
      <strong>
        {row.name}: {stateOf(row)}.
      </strong>{' '}
      {row.gate === 'unauthorized' ? T.conn.replace(row.name) : null}{' '}
      <a href={pathTo('connection')}>{T.home.gateNext}</a>
    </p>
  );
}

type ConnectionRow = Live['connections'][number];

/** Whether only another credential, or a valid setting, opens the writes of this connection. */
const isBlocked = ({ gate }: Pick<ConnectionRow, 'gate'>): boolean =>
  gate === 'unauthorized' || gate === 'invalid_settings';

const stateOf = ({ gate, observing }: ConnectionRow): string =>
  observing && gate === 'open' ? T.conn.observing : (T.conn.gates[gate] ?? gate);

/** The colour and the text of the dot: whether groupsync writes to the platform of this connection. */
function dotOf(row: ConnectionRow | undefined): readonly [tone: string, text: string] {
  if (goneSince.value !== null) return ['gone', T.live.gone];
  if (row === undefined) return ['', T.live.on];
  if (isBlocked(row)) return ['off', stateOf(row)];
  return [row.gate === 'open' && !row.observing ? '' : 'slow', `${T.conn.gate}: ${stateOf(row)}`];
}

function Connections() {
  const [tone, state] = dotOf(rowNow());
  const names = live.value?.connections?.map(({ name }) => name) ?? [connection.value];
  return (
    <div class="where">
      {names.length < 2 ? (
        <span class="muted" title={connection.value}>
          {connection.value}
        </span>
      ) : (
        <label>
          <span class="unseen">{T.connection}</span>
          <select
            value={connection.value}
            onChange={(event) => go(pagesOf(event.currentTarget.value)('home'))}
          >
            <option value="">{T.every.title}</option>
            {names.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
      )}
      <span class={`pulse ${tone}`} role="img" aria-label={state} title={state} />
    </div>
  );
}

const NotFound = () => (
  <Page title={T.notFound.title}>
    <a href={pathTo('home')}>{T.notFound.home}</a>
  </Page>
);

const NoCode = () => (
  <main>
    <Empty title={T.noCode.title}>{T.noCode.text}</Empty>
  </main>
);

/** Every text and every `title` is escaped before it is shown, because names come from other systems. */
const { vnode: prepared } = options;
options.vnode = (node) => {
  const props = node.props as string | { title?: unknown };
  if (typeof props === 'string') node.props = visible(props) as never;
  else if (typeof props.title === 'string') props.title = visible(props.title);
  prepared?.(node);
};
setInterval(() => {
  nowMs.value = Date.now();
}, 5_000);
const root = document.getElementById('app');
const isAdmitted = await admit();
if (root !== null) render(isAdmitted ? <App /> : <NoCode />, root);
if (isAdmitted) void listen();
