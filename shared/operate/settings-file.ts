import { parseSettings } from '../contract/change-setting.ts';
import type { ConnectionName } from '../domain/ids.ts';
import { journalOf } from '../sync/ports/logs.ts';
import { type LogPorts, readLog } from './log.ts';
import { rowsOf } from './setting-requests.ts';
import { planWhole, readableConnection, refuseForGroups, type SettingsPorts } from './settings.ts';

type FilePorts = SettingsPorts & LogPorts & Parameters<typeof planWhole>[2];

export type FilePlan = Awaited<ReturnType<typeof planFile>>;

/**
 * Plans the change of a connection to the settings of a file, and changes nothing. A setting that the file leaves out
 * gets its default. A change that already waits for another person is not requested again.
 * @param content the parsed JSON
 * @throws InvalidSettingError, NotFound
 */
export async function planFile(name: ConnectionName, content: unknown, ports: FilePorts) {
  const connection = await readableConnection(name, ports);
  const wanted: Readonly<Record<string, unknown>> = parseSettings(content);
  const current: Readonly<Record<string, unknown>> = connection.settings;
  const waiting = rowsOf(connection).filter(({ key, after }) => JSON.stringify(wanted[key]) === after);
  const kept = Object.fromEntries(waiting.map(({ key }) => [key, current[key]]));
  const plan = planWhole(connection, parseSettings({ ...wanted, ...kept }), ports);
  await refuseForGroups(plan, ports);
  const authors = plan.changes.length === 0 ? new Map() : await settingAuthors(name, ports);
  const changes = plan.changes.map((change) => ({ ...change, set: authors.get(change.key) ?? null }));
  return { ...plan, changes, waiting };
}

const MAX_ENTRIES = 5_000;

async function settingAuthors(name: ConnectionName, ports: LogPorts) {
  const { entries } = await readLog(name, { group: journalOf(name).group, limit: MAX_ENTRIES }, ports);
  const changes = entries.flatMap(({ at, actor, changes }) =>
    changes
      .filter(({ kind }) => kind === 'set_setting')
      .map(({ reason }) => [reason, { by: actor.name ?? actor.id, at }] as const),
  );
  return new Map(changes);
}
