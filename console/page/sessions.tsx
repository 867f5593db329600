import type { SessionLine, Sessions as SessionsAnswer } from '../answers.ts';
import { Ask, perform } from './actions.tsx';
import { live, useAnswer } from './net.ts';
import { Section, Time } from './parts.tsx';
import { signedIn } from './route.ts';
import { T } from './texts.ts';

/**
 * The sessions of people who signed in to the deployed console. Of the people who signed in, only administrators may
 * see and end them.
 */
export function Sessions() {
  const isAllowed = signedIn === undefined || live.value?.role === 'administrator';
  const { value, reload } = useAnswer<SessionsAnswer>(isAllowed ? 'sessions' : null);
  const { sessions = [] } = value ?? {};
  if (sessions.length === 0) return null;
  return (
    <Section title={T.sessions.title}>
      <ul class="list">
        {sessions.map((session) => (
          <Row key={session.id} {...session} count={countOf(session, sessions)} reload={reload} />
        ))}
      </ul>
    </Section>
  );
}

/** Returns the number of the person's sessions for the first session of the person, and 1 for each further session. */
function countOf({ id, person }: SessionLine, sessions: readonly SessionLine[]): number {
  const own = sessions.filter((one) => one.person === person);
  return own[0]?.id === id ? own.length : 1;
}

interface RowProps extends SessionLine {
  /** If above 1, the row has an additional button that ends all sessions of the person. */
  readonly count: number;
  readonly reload: () => Promise<void>;
}

const Row = ({ id, person, role, since, expiresAt, count, reload }: RowProps) => (
  <li>
    <b>{person === signedIn ? T.sessions.you(person) : person}</b>
    <span>{role}</span>
    <span class="grow muted small">
      {T.sessions.since} <Time at={since} /> · {T.sessions.expires} <Time at={expiresAt} />
    </span>
    <Ask
      label={T.sessions.endOf(person)}
      title={T.sessions.endTitle(1, person)}
      text={T.sessions.endText}
      verb={T.sessions.end}
      run={() => perform('end-sessions', { whose: id }, T.sessions.ended).then(reload)}
    />
    {count > 1 && (
      <Ask
        label={T.sessions.endAllOf(count, person)}
        title={T.sessions.endTitle(count, person)}
        text={T.sessions.endText}
        verb={T.sessions.endAll(count)}
        run={() => perform('end-sessions', { whose: person }, T.sessions.ended).then(reload)}
      />
    )}
  </li>
);
