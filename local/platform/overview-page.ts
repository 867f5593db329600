import * as z from 'zod';
import type { Endpoint } from './endpoint.ts';

const STYLE = `
:root { color-scheme: light dark; --line: #8885; --soft: #888; --accent: #2f6fdd; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: 0; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
a { color: var(--accent); } code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; } td { border-top: 1px solid var(--line); padding: .4rem .6rem .4rem 0; vertical-align: top; }
td:first-child { width: 4.5rem; font-weight: 600; } .soft { color: var(--soft); font-size: .9em; }
.tag { border: 1px solid var(--line); border-radius: 1rem; padding: 0 .5rem; font-size: .8em; white-space: nowrap; }
`;

const CONTROLS: readonly (readonly [method: string, path: string, summary: string])[] = [
  ['GET', '/_simulator/state', 'shows the whole state in the form of a world file'],
  ['POST', '/_simulator/reset', 'restores the initial world; clears faults, settings and the request log'],
  ['GET', '/_simulator/requests?since=0&bodies=1', 'shows the requests that the API received'],
  ['POST', '/_simulator/faults', 'makes the next matching requests fail'],
  ['POST', '/_simulator/settings', 'changes behaviour that the specification leaves open'],
  ['POST', '/_simulator/groups/{id}', 'changes a group as another client'],
  ['DELETE', '/_simulator/groups/{id}', 'deletes a group as another client'],
  ['POST', '/_simulator/employees', 'adds or changes an employee'],
];

/** Returns the page at `/`, which lists all endpoints. It needs no token and loads nothing from other servers. */
export function overviewPage(endpoints: readonly Endpoint[]): string {
  const areas = [...new Set(endpoints.map((endpoint) => endpoint.area))];
  const sections = areas.map((area) => {
    const rows = endpoints.filter((endpoint) => endpoint.area === area).map(endpointRow);
    return `<h2>${escapeHtml(area)}</h2><table>${rows.join('')}</table>`;
  });
  const controls = CONTROLS.map(([method, path, summary]) => row(method, path, escapeHtml(summary)));
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Workforce Platform simulator</title><style>${STYLE}</style></head><body>
<h1>Workforce Platform simulator</h1>
<p>Send <code>Authorization: Bearer …</code> with a token of the world (printed at the start). The same endpoints as
<a href="/openapi.json">OpenAPI 3.1</a>. This server answers on this machine only.</p>
${sections.join('\n')}
<h2>Test controls (no token, not part of the platform)</h2><table>${controls.join('')}</table>
</body></html>
`;
}

function endpointRow(endpoint: Endpoint): string {
  const tag = endpoint.oauthOnly ? ' <span class="tag">OAuth applications only</span>' : '';
  const description =
    endpoint.description === undefined ? '' : `<div class="soft">${prose(endpoint.description)}</div>`;
  const names = endpoint.query instanceof z.ZodObject ? Object.keys(endpoint.query.shape) : [];
  const query = names.length === 0 ? '' : `<div class="soft">Query: ${names.map(code).join(', ')}</div>`;
  return row(
    endpoint.method,
    endpoint.path.replaceAll(/:(\w+)/g, '{$1}'),
    `${prose(endpoint.summary)}${tag}${description}${query}`,
  );
}

const row = (method: string, path: string, html: string) =>
  `<tr><td>${method}</td><td>${code(path)}<div>${html}</div></td></tr>`;

const code = (text: string) => `<code>${escapeHtml(text)}</code>`;

/** Escapes text and turns \`code\` into HTML. */
const prose = (text: string) => escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');

const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
