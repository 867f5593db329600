import type { DirectoryDisconnection } from '../../shared/contract/answers/directory.ts';
import { refuseOwnerless } from '../../shared/operate/directory/reader-groups.ts';
import { changeSettings, planSettings } from '../../shared/operate/settings.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../io.ts';

/**
 * After confirmation, stops reading the directory and deletes its credential. @throws InvalidSettingError while the
 * reader owns groups
 */
export async function disconnect(context: Context): Promise<number> {
  const { out } = context;
  const { ports, found } = await context.connected();
  const { name } = found;
  const kind = found.settings.directory?.kind ?? null;
  const answer: DirectoryDisconnection = { connection: name, kind };
  if (kind === null) {
    out.answer(answer, () => out.line(`${name} reads no directory`));
    return EXIT.done;
  }
  const plan = await planSettings(name, [{ key: 'directory', value: null }], ports);
  await refuseOwnerless(found, plan.next, ports);
  if (
    !(await context.confirm(`Stop reading the directory (${kind}) for ${name}, and delete its credential?`))
  )
    return EXIT.failed;
  await changeSettings(plan, ports);
  await ports.directoryApplicants.remove(name);
  out.answer(answer, () => out.line(`${name} does not read ${kind} any more; its groups stay as they are`));
  return EXIT.done;
}
