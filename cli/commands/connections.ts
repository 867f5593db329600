import type { Command } from 'commander';
import { SETTING_KEYS } from '../../shared/contract/change-setting.ts';
import {
  changeSettings,
  listConnections,
  planSettings,
  removeConnection,
  requireConnection,
  type SettingChange,
} from '../../shared/operate/settings.ts';
import { instant, reportCredential } from '../../shared/operate/status.ts';
import type { Act } from '../act.ts';
import { type Context, parseConnectionName } from '../context.ts';
import { EXIT, UsageError } from '../io.ts';
import { plural } from '../output/words.ts';

export function addConnections(program: Command, act: Act): void {
  const connections = program
    .command('connections')
    .description('the companies that are served, and their settings')
    .addHelpText(
      'after',
      `\nExamples:\n  groupsync connections\n  groupsync connections show default\n  groupsync connections set default drift=report guard.maxRemovedShare=0.2\n\nSettings: ${SETTING_KEYS.join(', ')}`,
    );
  connections
    .command('list', { isDefault: true })
    .description('every connection with its gate')
    .action(act(list));
  connections
    .command('show')
    .description('settings and health of one connection')
    .argument('[name]', 'default: --connection')
    .action(act(show));
  connections
    .command('set')
    .description('change settings; keys are dotted, values are JSON or plain text')
    .argument('<name>')
    .argument('<key=value...>')
    .option('-y, --yes', 'do not ask')
    .addHelpText(
      'after',
      '\nExamples:\n  groupsync connections set default guard=null\n  groupsync connections set default \'match=["employeeNumber=employeeNumber"]\'',
    )
    .action(act(set));
  connections
    .command('remove')
    .description('forget a connection, its credential and SCIM tokens; its groups stay as they are')
    .argument('<name>')
    .option('-y, --yes', 'do not ask')
    .action(act(remove));
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
  const ports = await context.ports();
  const chosen = name === undefined ? context.connection : parseConnectionName(name);
  const { settings, company, observing, contract: known } = await requireConnection(chosen, ports);
  const { state, reason, sinceMs } = await ports.gates.read(chosen);
  const health = await ports.health.read(chosen);
  const gate = { state, reason: reason ?? null, since: instant(sinceMs) };
  const credential = reportCredential(health, ports.clock());
  const lastGood = credential.goodAt;
  const contract = known ? { at: new Date(known.atMs).toISOString(), findings: known.findings } : null;
  const document = { name: chosen, company, observing, gate, lastGood, credential, contract, settings };
  out.answer(document, () => {
    out.line(`connection  ${chosen}${observing ? ' (observing: writes nothing)' : ''}`);
    out.line(`company     ${company}`);
    out.line(`gate        ${gate.state}${gate.reason === null ? '' : `: ${gate.reason}`}`);
    out.line(`last good   ${credential.goodAt ?? 'not checked yet'}`);
    if (credential.failure !== null) out.line(`last check  ${credential.failure.message}`);
    out.line(`platform    ${contract === null ? 'not tried yet: groupsync probe' : `tried ${contract.at}`}`);
    for (const { about, found } of contract?.findings ?? []) out.line(`  ${about}: ${found}`);
    out.line('settings');
    for (const [key, value] of Object.entries(settings)) out.line(`  ${key} = ${JSON.stringify(value)}`);
  });
  return EXIT.done;
}

async function set(context: Context, name: string, changes: readonly string[]): Promise<number> {
  const { out, io } = context;
  const ports = await context.ports();
  const plan = await planSettings(parseConnectionName(name), changes.map(parseChange), ports);
  if (plan.changes.length === 0) {
    out.answer({ changed: [], replanned: 0 }, () => out.line('nothing changes'));
    return EXIT.done;
  }
  for (const { key, before, after } of plan.changes) out.note(`${key}: ${before} → ${after}`);
  if (plan.replans) out.note('every group will be planned anew');
  if (!(await context.confirm('Change the settings?'))) return EXIT.failed;
  const replanned = await changeSettings(plan, io.user, ports, (meanwhile) => {
    for (const { key, before, after } of meanwhile)
      out.note(`somebody else changed ${key} meanwhile, which stays: ${before} → ${after}`);
  });
  if (plan.needsPeople) {
    out.note('reading employees, for the new rules …');
    await ports.functions.run('people', { connection: plan.connection.name });
  }
  out.answer({ changed: plan.changes, replanned }, () =>
    out.line(`changed; ${plural(replanned, 'group')} will be looked at within two minutes`),
  );
  return EXIT.done;
}

/** A value that is no JSON is taken as text: `drift=report` is what people write. */
function parseChange(text: string): SettingChange {
  const split = text.indexOf('=');
  if (split < 1) throw new UsageError(`expected KEY=VALUE, got "${text}"`);
  const [key, value] = [text.slice(0, split), text.slice(split + 1)];
  try {
    return { key, value: JSON.parse(value) };
  } catch {
    return { key, value };
  }
}

async function remove(context: Context, text: string): Promise<number> {
  const { out, io } = context;
  const name = parseConnectionName(text);
  const ports = await context.ports();
  const { company } = await requireConnection(name, ports);
  out.note(
    `connection ${name} of company ${company}: credential and SCIM tokens end, its groups stay on the platform, and the name stays with this company`,
  );
  if (!(await context.confirm(`Remove the connection ${name}?`))) return EXIT.failed;
  const { secretRemoved } = await removeConnection(name, io.user, ports);
  out.answer({ removed: name, secretRemoved }, () => out.line(`removed ${name}`));
  return EXIT.done;
}
