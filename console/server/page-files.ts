/** The files of the page, by path. */
export type Page = Readonly<Record<string, { readonly type: string; readonly body: string }>>;

/** The page may not load from other servers, send to them, or be cached. */
export const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const;

/** Returns a document with these contents. The page's policy allows no inline script or style. */
export const documentOf = (body: string, head = ''): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>groupsync</title>
<link rel="icon" href="/icon.svg">
<link rel="stylesheet" href="/style.css">${head}
</head>
${body}
</html>`;

/**
 * Returns the document of the page.
 * @param person the person who signed in; undefined if people use the console with their AWS credentials
 */
export const indexOf = (person?: string): string =>
  documentOf(
    `<body${person === undefined ? '' : ` data-person="${escaped(person)}"`}><div id="app"></div></body>`,
    '\n<script type="module" src="/app.js"></script>',
  );

const escaped = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
