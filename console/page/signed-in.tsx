import { hasSessionEnded, live, signOut } from './net.ts';
import { Button } from './parts.tsx';
import { connection, signedIn } from './route.ts';
import { T } from './texts.ts';

/** Shows the person who signed in with the role, and a button to sign out. A console without sign-in shows nothing. */
export function SignedIn() {
  if (signedIn === undefined) return null;
  return (
    <div class="where">
      <span class="muted" title={signedIn}>
        {signedIn}
        {live.value?.role && <small class="block">{live.value.role}</small>}
      </span>
      <Button onClick={signOut}>{T.session.signOut}</Button>
    </div>
  );
}

/** Shows a notice until the person signs in again. The page keeps its content and all typed text. */
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
