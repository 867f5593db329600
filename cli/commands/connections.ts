import type { Command } from 'commander';
import type { SettingRequestRow } from '../../shared/contract/answers/status.ts';
import { settingKeys } from '../../shared/contract/change-setting.ts';
import type { ProbeFinding } from '../../shared/contract/contract-report.ts';
import { settingDifference } from '../../shared/contract/setting-difference.ts';
import { eraseConnection } from '../../shared/operate/forget.ts';
import { rowsOf } from '../../shared/operate/setting-requests.ts';
import { listConnections, planSettings, removeConnection } from '../../shared/operate/settings.ts';
import { formatGate, instant, reportCredential, reportGate } from '../../shared/operate/status.ts';
import { formatTask, reportTasks } from '../../shared/operate/tasks.ts';
import type { Connection } from '../../shared/sync/ports/connections.ts';
import { type Act, type Context, parseConnectionName } from '../context.ts';
import { EXIT } from '../io.ts';
import { erasedLines, plural } from '../output/words.ts';
import { examples, settingChange } from './arguments.ts';
import { previewChange, saveSettings } from './change-settings.ts';
import { addSettingFiles } from './setting-files.ts';

export function addConnections(program: Command, act: Act): void {
  const connections = program
    .command('connections')
    .description('connections to companies, and their settings')
    .addHelpText(
      'after',
      `\nExamples:\n  groupsync connections\n  groupsync connections show default\n  groupsync connections set default mode=report guard.maxRemovedShare=0.2\n\nSettings: ${settingKeys().join(', ')}`,
    );
  connections
    .command('list', { isDefault: true })
    .description('list connections with their gate')
    .addHelpText(...examples('connections', 'connections list --json'))
    .action(act(list));
  connections
    .command('show')
    .description('show settings and health of a connection')
    .argument('[name]', 'default: --connection')
    .addHelpText(...examples('connections show', 'connections show default --json'))
    .action(act(show));
  connections
    .command('set')
    .description('change settings; keys are dotted, values are JSON or plain text')
    .argument('<name>')
    .argument('<key=value...>')
    .addHelpText(
      ...examples(
        'connections set default guard=null',
        'connections set default \'match=["employeeNumber=employeeNumber"]\'',
      ),
    )
    .action(act(set));
  connections
    .command('confirm')
    .description(
      'confirm or reject requests of another person: settings, ends of blocks, SCIM tokens (four eyes)',
    )
    .argument('<name>')
    .option('--reject', 'reject the requests; settings and blocks stay')
    .addHelpText(...examples('connections confirm default', 'connections confirm default --reject'))
    .action(act(confirm));
  connections
    .command('remove')
    .description('remove a connection, its credential and SCIM tokens; platform groups stay unchanged')
    .argument('<name>')
    .option('--erase', 'also erase all stored data of the connection; works for a removed connection too')
    .addHelpText(...examples('connections remove default', 'connections remove default --erase --yes'))
    .action(act(remove));
  addSettingFiles(connections, act);
}

async function list({ out, ports }: Context): Promise<number> {
  const connections = await listConnections(await ports());
  out.answer({ connections }, () =>
    out.table(
      connections,
      [
        { title: 'name', of: ({ name }) => name, whole: true },
        { title: 'company', of: ({ company }) => company },
        { title: 'base URL', of: ({ baseUrl }) => baseUrl },
        { title: 'gate', of: ({ gate, observing }) => (observing ? `${gate}, observing` : gate) },
        { title: 'reason', of: ({ reason }) => reason },
      ],
      'no connections yet: groupsync connect',
    ),
  );
  return EXIT.done;
}

async function show(context: Context, name: string | undefined): Promise<number> {
  const { out } = context;
  const chosen = name === undefined ? context.connection : parseConnectionName(name);
  const { ports, found } = await context.connected(chosen);
  const { settings, company, observing, contract: known } = found;
  const requests = rowsOf(found);
  const stored = await ports.gates.read(chosen);
  const health = await ports.health.read(chosen);
  const { state, reason = null, sinceMs } = stored;
  const gate = { state, reason, since: instant(sinceMs) };
  const credential = reportCredential(health, ports.clock());
  const tasks = await reportTasks(found, ports);
  const contract = known ? { at: new Date(known.atMs).toISOString(), findings: known.findings } : null;
  const document = {
    name: chosen,
    company,
    observing,
    gate,
    credential,
    tasks,
    contract,
    settings,
    requests,
  };
  out.answer(document, () => {
    out.line(`connection  ${chosen}${observing ? ' (observing: writes nothing)' : ''}`);
    out.line(`company     ${company}`);
    out.line(`gate        ${formatGate(reportGate(stored, health))}`);
    out.line(`last good   ${credential.goodAt ?? 'not checked yet'}`);
    if (credential.failure !== null) out.line(`last check  ${credential.failure.message}`);
    const ran = tasks.map((one) => `${one.task.padEnd(10)}  ${formatTask(one)}`);
    for (const line of [...ran, ...contractLines(contract, chosen)]) out.line(line);
    out.line('settings');
    for (const line of settingLines(found)) out.line(line);
    for (const line of requests.map(requestLine)) out.line(line);
  });
  if (requests.length > 0) out.note(`next: groupsync connections confirm ${chosen}`);
  return EXIT.done;
}

async function set(context: Context, name: string, changes: readonly string[]): Promise<number> {
  const { out } = context;
  const ports = await context.ports();
  const plan = await planSettings(parseConnectionName(name), changes.map(settingChange), ports);
  if (plan.changes.length === 0) {
    out.answer({ changed: [], requested: [], replanned: 0 }, () => out.line('nothing changes'));
    return EXIT.done;
  }
  for (const { key, before, after } of plan.changes) out.note(settingDifference(key, before, after));
  for (const key of plan.requested)
    out.note(`four eyes is on: ${key} does not change until another person confirms it`);
  if (plan.replans) await previewChange(context, plan, changes);
  if (!(await context.confirm('Change the settings?'))) return EXIT.failed;
  const { replanned, requested } = await saveSettings(context, plan);
  const changed = plan.changes.filter(({ key }) => !requested.includes(key));
  out.answer({ changed, requested, replanned }, () => {
    if (changed.length > 0)
      out.line(`changed; ${plural(replanned, 'group')} will be planned again within two minutes`);
    if (requested.length > 0) out.line(`requested: ${requested.join(', ')}; another person must confirm it`);
  });
  if (requested.length > 0)
    out.note(`next, by another person: groupsync connections confirm ${plan.connection.name}`);
  return EXIT.done;
}

const settingLines = ({ settings, unknownSettings = [] }: Connection): readonly string[] => [
  ...Object.entries(settings).map(([key, value]) => `  ${key} = ${JSON.stringify(value)}`),
  ...unknownSettings.map((key) => `  ${key} is unknown to this version: stored, but ignored`),
];

function contractLines(
  contract: { readonly at: string; readonly findings: readonly ProbeFinding[] } | null,
  connection: string,
): readonly string[] {
  if (contract === null) return [`platform    not probed yet: groupsync probe --connection ${connection}`];
  const findings = contract.findings.map(({ about, found }) => `  ${about}: ${found}`);
  return [`platform    probed ${contract.at}`, ...findings];
}

const requestLine = ({ key, before, after, by, at }: SettingRequestRow): string =>
  `request     ${settingDifference(key, before, after)}, by ${by} at ${at}; another person must confirm it`;

async function confirm(context: Context, text: string, { reject = false }: { readonly reject?: boolean }) {
  const { out } = context;
  const name = parseConnectionName(text);
  const { ports, found } = await context.connected(name);
  const shown = rowsOf(found);
  const action = reject ? 'rejected' : 'confirmed';
  if (shown.length === 0) {
    out.answer({ outcome: 'none', requests: [], replanned: 0 }, () => out.line('no pending requests'));
    return EXIT.done;
  }
  for (const line of shown.map(requestLine)) out.note(line);
  const question = reject ? 'Reject these requests?' : 'Confirm these changes?';
  if (!(await context.confirm(question))) return EXIT.failed;
  const { replanned } = await ports.decisions.settings({
    connection: name,
    isConfirmed: !reject,
    shown: [...shown],
  });
  out.answer({ outcome: action, requests: shown, replanned }, () =>
    out.line(
      reject
        ? 'rejected: settings and blocks did not change'
        : `confirmed; ${plural(replanned, 'group')} will be planned again within two minutes`,
    ),
  );
  return EXIT.done;
}

async function remove(context: Context, text: string, { erase = false }: { readonly erase?: boolean }) {
  const { out } = context;
  const name = parseConnectionName(text);
  const ports = await context.ports();
  const isThere = (await ports.connections.current(name)) !== undefined;
  const previousCompany = erase && !isThere ? await ports.connections.companyOf(name) : undefined;
  const company = previousCompany ?? (await context.connected(name)).found.company;
  if (isThere)
    out.note(
      `connection ${name} of company ${company}: its credential and SCIM tokens will be deleted, its groups stay on the platform, and the name stays reserved for this company`,
    );
  if (erase)
    out.note('all stored data of its groups, people and history will be erased; this cannot be undone');
  if (!(await context.confirm(`${erase ? 'Erase' : 'Remove'} the connection ${name}?`))) return EXIT.failed;
  const { secretRemoved } = isThere ? await removeConnection(name, ports) : { secretRemoved: false };
  if (erase) out.note('waiting until no worker uses the connection (35 s to 16 min), then erasing …');
  const erased = erase ? await eraseConnection(name, company, ports) : null;
  out.answer({ removed: name, secretRemoved, erased }, () => {
    out.line(`removed ${name}`);
    for (const line of erasedLines(erased ?? {})) out.line(line);
  });
  return EXIT.done;
}
