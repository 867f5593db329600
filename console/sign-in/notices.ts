import { documentOf } from '../server/page-files.ts';

const TEXTS = {
  signedOut: ['You have signed out', 'You may still be signed in at your company. Sign out there too.'],
  refused: [
    'You cannot sign in',
    'Your company did not confirm the sign-in, or you have no role in groupsync. Ask an administrator.',
  ],
  failed: ['The console does not respond', 'The request failed. Try again in a minute.'],
} as const;

/**
 * A page without data, for people who are not signed in.
 * @param to the page after the sign-in
 */
export function noticePage(status: number, kind: keyof typeof TEXTS, to = '/'): Response {
  const [title, text] = TEXTS[kind];
  const link = `<p><a href="/auth/sign-in?to=${encodeURIComponent(to)}">Sign in</a></p>`;
  const body = documentOf(`<body><main><h1>${title}</h1><p>${text}</p>${link}</main></body>`);
  return new Response(body, { status, headers: { 'content-type': 'text/html; charset=utf-8' } });
}
