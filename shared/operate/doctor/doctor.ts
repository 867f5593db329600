import type { Check } from '../../contract/answers/connect.ts';
import { functionName } from '../../contract/names.ts';
import { DAY_MS } from '../../domain/duration.ts';
import type { ConnectionName } from '../../domain/ids.ts';
import { EXPIRES_SOON_MS } from '../../plan/notice.ts';
import { listTokens, type TokenSummary } from '../../scim/tokens/tokens.ts';
import type { ToolPorts } from '../../sync/ports/bundles.ts';
import type { ScimFacts } from '../../sync/ports/deployment.ts';
import { readableConnections } from '../settings.ts';
import { type Checked, check, elsewhere, fault, guarded, messageOf, passed } from './check.ts';
import { checkConnection } from './connection.ts';
import { checkAccess, checkDeployment, stopped } from './deployment.ts';

/**
 * Checks the deployment and each connection, and returns a fix for each fault. It changes nothing. If a part cannot be
 * read, the other checks still run. If the AWS credentials are invalid, only this fault is reported. The deployed
 * console checks only one connection, and does not name other connections.
 */
export async function examine(
  { prefix, connection }: { readonly prefix: string; readonly connection: ConnectionName | undefined },
  ports: ToolPorts,
): Promise<{ readonly checks: readonly Check[] }> {
  const { isConsole = false } = ports.deployment;
  const refused = isConsole ? undefined : await checkAccess(ports.deployment);
  if (refused !== undefined) return { checks: [refused] };
  const deployed = isConsole
    ? [elsewhere('deployment', 'queues, table, functions, alarms and schedules')]
    : await checkDeployment({ prefix, deployment: ports.deployment });
  const connected = await guarded('connections', () =>
    checkConnections({ prefix, named: connection }, ports),
  );
  return { checks: [...deployed, ...connected] };
}

async function checkConnections(
  { prefix, named }: { readonly prefix: string; readonly named: ConnectionName | undefined },
  ports: ToolPorts,
): Promise<Checked> {
  const listed = await readableConnections(ports.connections);
  const { isConsole } = ports.deployment;
  const all = isConsole ? listed.filter(({ name }) => name === named) : listed;
  const chosen = named === undefined ? all : all.filter(({ name }) => name === named);
  if (chosen.length === 0) {
    const detail = `there is no connection${named === undefined ? '' : ` ${named}`}`;
    const name = named ?? 'default';
    return fault('connections', detail, `groupsync connect ${name}`);
  }
  const checks: Check[] = [];
  for (const one of chosen) checks.push(...(await checkConnection(one, ports)));
  const names = { all: all.map(({ name }) => name), chosen: chosen.map(({ name }) => name) };
  for (const name of [...(isConsole ? [] : [undefined]), ...names.chosen])
    checks.push(...(await checkNotices(name, ports)));
  checks.push(...(await guarded('scim', () => checkScim({ prefix, ...names }, ports))));
  return checks;
}

async function checkNotices(name: ConnectionName | undefined, ports: ToolPorts): Promise<readonly Check[]> {
  const { lastFailure } = await ports.notices.read(name);
  if (lastFailure === undefined) return [];
  const at = new Date(lastFailure.atMs).toISOString();
  const detail = `the latest notification of ${name ?? 'this stage'} was not sent, at ${at}: ${lastFailure.message}`;
  return [fault('notify', detail, 'groupsync notify test')];
}

const create = (name: ConnectionName) => `groupsync --connection ${name} scim token create`;

/** Checks the SCIM server, and for each connection whether its identity provider still has a valid token. */
async function checkScim(
  {
    prefix,
    all,
    chosen,
  }: {
    readonly prefix: string;
    readonly all: readonly ConnectionName[];
    readonly chosen: readonly ConnectionName[];
  },
  ports: ToolPorts,
): Promise<Checked> {
  const facts = await ports.deployment.scim();
  const tokens = new Map<ConnectionName, readonly TokenSummary[]>();
  for (const name of all) tokens.set(name, await listTokens(name, ports));
  const named = [...tokens].filter(([, list]) => list.some(({ state }) => state === 'active'));
  if (facts === undefined) {
    if (named.length === 0) return passed('scim', 'not part of this deployment');
    const [[first, [{ prefix = '' } = {}] = []] = []] = named;
    return fault(
      'scim',
      `connection ${first} has a SCIM token, but this stage has no SCIM server`,
      `set scim in the stage’s settings and deploy (docs/scim.md), or revoke the token:\ngroupsync --connection ${first} scim token revoke ${prefix}`,
    );
  }
  return [
    ...stateOf(facts),
    ...(facts.reserved === 0 ? [stopped('scim', functionName(prefix, 'scim'))] : []),
    await checkUrl(facts.url, ports),
    ...chosen.flatMap((name) => checkTokens(name, tokens.get(name) ?? [], ports.clock())),
    ...(named.length > 0 ? [] : [noToken(chosen)]),
  ];
}

function stateOf({ state }: ScimFacts): readonly Check[] {
  if (state === undefined) return [];
  const detail = `the function is ${state}`;
  const fix = 'wait a minute; if the state does not change, deploy again';
  return [check('scim', state === 'Active' || state === 'Inactive', { detail, fix })];
}

/** The request has no token, so a working server answers 401. Only an answer of 500 or above is a fault. */
async function checkUrl(url: string | undefined, { deployment }: ToolPorts): Promise<Check> {
  if (url === undefined) return passed('scim url', 'the stack’s output ScimUrl has the URL');
  try {
    const status = await deployment.statusOf(`${url}/ServiceProviderConfig`);
    return check('scim url', status < 500, {
      detail: `${url} answers ${status}`,
      fix: 'docs/runbook.md, "SCIM": the function’s log has the reason',
    });
  } catch (error) {
    const detail = `${url} does not answer: ${messageOf(error)}`;
    return fault('scim url', detail, 'check network and proxy, then deploy again');
  }
}

function checkTokens(name: ConnectionName, tokens: readonly TokenSummary[], nowMs: number): Checked {
  const active = tokens.filter(({ state }) => state === 'active');
  const title = `${name}: scim tokens`;
  if (active.length === 0) {
    const hasExpired = tokens.some(({ state }) => state === 'expired');
    const fix = `paste a new one at the identity provider:\n${create(name)}`;
    return hasExpired
      ? fault(title, 'all have expired or were revoked: the identity provider is refused', fix)
      : [];
  }
  const lastExpiryMs = Math.max(...active.map(({ expiresMs }) => expiresMs ?? Number.POSITIVE_INFINITY));
  const days = Math.floor((lastExpiryMs - nowMs) / DAY_MS);
  return check(title, lastExpiryMs - nowMs > EXPIRES_SOON_MS, {
    detail: `${active.length} active${Number.isFinite(lastExpiryMs) ? `, the last for ${days} days` : ''}`,
    fix: `paste a new one at the identity provider, then revoke the old one:\n${create(name)}`,
  });
}

const noToken = ([name]: readonly ConnectionName[]): Check =>
  fault(
    'scim token',
    'the stage has a SCIM server, but no connection has a token for it',
    `docs/connect-okta.md, docs/connect-entra.md\n${name === undefined ? 'groupsync connect' : create(name)}`,
  );
