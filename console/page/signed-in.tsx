import { hasSessionEnded, signOut } from './net.ts';
import { Button } from './parts.tsx';
import { connection, signedIn } from './route.ts';
import { T } from './texts.ts';

/** The person who signed in, and a button to sign out. Nothing in a console without sign-in. */
export function SignedIn() {
  if (signedIn === undefined) return null;
  return (
    <div class="where">
      <span class="muted" title={signedIn}>
        {signedIn}
      </span>
      <Button onClick={signOut}>{T.session.signOut}</Button>
    </div>
  );
}

/** A notice until the person signs in again. The page and all typed text stay below the notice. */
export function SessionEnded() {
  if (signedIn === undefined || !hasSessionEnded.value) return null;
  const here = `${location.pathname}${location.search}`;
  return (
    <p class="notice bad gone" role="alert" key={connection.value}>
      <strong>{T.session.ended}.</strong>{' '}
      <a href={`/auth/sign-in?to=${encodeURIComponent(here)}`} target="_top">
        {T.session.signIn}
      </a>
    </p>
  );
}
