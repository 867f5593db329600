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
          <Row key={session.id} {...session} reload={reload} />
        ))}
      </ul>
    </Section>
  );
}

interface RowProps extends SessionLine {
  readonly reload: () => Promise<void>;
}

const Row = ({ person, role, since, expiresAt, reload }: RowProps) => (
  <li>
    <b>{person === signedIn ? T.sessions.you(person) : person}</b>
    <span>{role}</span>
    <span class="grow muted small">
      {T.sessions.since} <Time at={since} /> · {T.sessions.expires} <Time at={expiresAt} />
    </span>
    <Ask
      label={T.sessions.endOf(person)}
      title={T.sessions.endTitle(person)}
      text={T.sessions.endText}
      verb={T.sessions.end}
      run={() => perform('end-sessions', { whose: person }, T.sessions.ended).then(reload)}
    />
  </li>
);
