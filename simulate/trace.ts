import type { Outcome } from './execute.ts';
import { LANES, type LogLine, type Violation } from './run-log.ts';

const MOST_LINES = 4_000;

/** Returns a run as an HTML page that needs no other files. Time runs downwards, violations are red. */
export function tracePage({ run, logLines, violations }: Outcome, command: string): string {
  const [first] = violations;
  const shown = logLines.filter((line) => concerns(line, first)).slice(0, MOST_LINES);
  const omitted = logLines.length - shown.length;
  const title = first === undefined ? `Run ${run.seed}: no violation` : `Run ${run.seed}: ${first.sentence}`;
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title><style>${STYLE}</style>
<header>
<h1>${escaped(first === undefined ? 'No invariant was violated' : first.sentence)}</h1>
<p class="where">${first === undefined ? '' : `${clock(first.atMs, logLines[0]?.atMs)} · ${escaped(placeOf(first))} · invariant check <b>${first.check}</b> (${first.cause})`}</p>
${violations.length > 1 ? `<details><summary>${violations.length - 1} more</summary><ol>${violations.slice(1, 50).map(violationLine).join('')}</ol></details>` : ''}
<p>Execute this run again: <code>${escaped(command)}</code></p>
<details><summary>Connections of this run</summary>${run.connections.map(connectionLine).join('')}</details>
<p class="hint">Time runs downwards, from the day when this run began (d1). The checks run once per simulated hour. A red line reports a violation in the hour before the line. ${omitted > 0 ? `The page shows the lines about the group of the violation and about all groups. The page leaves out ${omitted} other lines.` : ''}</p>
</header>
<div class="lanes" role="table">
<div class="head"><b>Time</b>${LANES.map(([, name]) => `<b>${name}</b>`).join('')}</div>
${rows(shown)}
</div></html>
`;
}

/** Returns whether the page shows a line. If the violation is about one group, lines about other groups are hidden. */
function concerns(line: LogLine, violation: Violation | undefined): boolean {
  if (violation === undefined || line.lane === 'check') return true;
  const { connection = line.connection, group = line.group } = violation;
  return (line.connection ?? connection) === connection && (line.group ?? group) === group;
}

function rows(lines: readonly LogLine[]): string {
  const startMs = lines[0]?.atMs;
  return lines.map((line) => (line.lane === 'check' ? wrong : row)(line, startMs)).join('\n');
}

const wrong = ({ atMs, what, detail = '', group = '' }: LogLine, startMs: number | undefined): string =>
  `<div class="wrong"><time>${clock(atMs, startMs)}</time><p><b>${escaped(what)}${group === '' ? '' : ` · ${escaped(group)}`}</b> ${escaped(detail)}</p></div>`;

function row({ atMs, lane, what, detail, group }: LogLine, startMs: number | undefined): string {
  const place = LANES.findIndex(([name]) => name === lane);
  const about = group === undefined ? '' : `<i>${escaped(group)}</i> `;
  const more = detail === undefined ? '' : `<small>${escaped(detail)}</small>`;
  return `<div class="row"><time>${clock(atMs, startMs)}</time><p class="${lane}" style="grid-column:${2 + Math.max(0, place)}">${about}${escaped(what)}${more}</p></div>`;
}

function clock(atMs: number, startMs = atMs): string {
  const at = new Date(atMs).toISOString();
  return `d${Math.floor((atMs - startMs) / 86_400_000) + 1} ${at.slice(11, 19)}`;
}

const placeOf = ({ connection, group }: Violation): string =>
  [group === undefined ? '' : `group ${group}`, connection === undefined ? '' : `connection ${connection}`]
    .filter(Boolean)
    .join(', ') || 'everywhere';
const violationLine = (violation: Violation): string =>
  `<li><b>${violation.check}</b> (${violation.cause}) ${escaped(placeOf(violation))}: ${escaped(violation.sentence)}</li>`;
const connectionLine = (spec: Outcome['run']['connections'][number]): string => {
  const { name, company, settings, traits, credential, people } = spec;
  return `<p><b>${escaped(name)}</b> of ${escaped(company)}, ${people.length} people, ${credential} credential<br><code>${escaped(JSON.stringify(settings))}</code><br><code>${escaped(JSON.stringify(traits))}</code></p>`;
};

const escaped = (text: string): string =>
  text.replace(
    /[&<>"]/g,
    (character) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[character] ?? character,
  );

const STYLE = `
:root{color-scheme:light dark;--line:#8883;--soft:#8881;--red:#c0232c}
body{margin:0;font:13px/1.45 system-ui,sans-serif}
header{padding:20px 24px 8px;max-width:110ch}h1{font-size:20px;line-height:1.3;margin:0 0 6px;color:var(--red)}
.where{font-size:14px;margin:0 0 8px}.hint{color:#888}code{background:var(--soft);padding:1px 4px;border-radius:3px;overflow-wrap:anywhere}
.lanes{min-width:1300px}.head,.row{display:grid;grid-template-columns:92px repeat(${LANES.length},minmax(120px,1fr));column-gap:6px}
.head{position:sticky;top:0;background:Canvas;border-bottom:2px solid var(--line);padding:6px 24px;z-index:1}
.row{padding:1px 24px}.row:hover{background:var(--soft)}time{color:#888;font-variant-numeric:tabular-nums;font-size:12px;white-space:nowrap}
.row p{margin:0;padding:2px 6px;border-left:3px solid #7a8;background:var(--soft);border-radius:2px;overflow-wrap:anywhere}
.row p.directory{border-color:#36c}.row p.company{border-color:#639}.row p.apply{border-color:#283}.row p.platform{border-color:#b60}
.row p.client{border-color:#a3a}.row p.operator{border-color:#088}.row p.aws{border-color:#555}
small{display:block;color:#888}i{font-style:normal;font-weight:600}
.wrong{display:grid;grid-template-columns:92px 1fr;gap:6px;margin:4px 24px;padding:6px 0 6px 8px;background:#c0232c22;border-left:4px solid var(--red)}.wrong p{margin:0}
`;
