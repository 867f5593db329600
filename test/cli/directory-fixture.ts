import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DirectoryQuestion } from '../../shared/contract/directory-question.ts';
import { DirectoryInvocation } from '../../shared/contract/invocation.ts';
import { createDirectories } from '../../shared/directory/directories.ts';
import { answerQuestion } from '../../shared/operate/directory/answer.ts';
import { examineDirectory, tryDirectory } from '../../shared/operate/directory/preview.ts';
import { requireConnection } from '../../shared/operate/settings.ts';
import type { ToolPorts } from '../../shared/sync/ports/bundles.ts';
import { SecretError } from '../../shared/sync/ports/secrets.ts';
import { openGoogle } from '../directory/google/reader.ts';
import { ADMIN } from '../directory-simulator/fixture.ts';
import { runCli } from '../support/cli/io.ts';
import { temporaryFolder } from '../support/folder.ts';
import { savedWorld } from '../support/operate/world.ts';

/** Creates a connection, and a directory for it. The function `directory` has no key. */
export async function worldOf(saved: () => Promise<Awaited<ReturnType<typeof savedWorld>>> = savedWorld) {
  const world = await saved();
  const google = await openGoogle();
  google.clock.ms = world.clock.ms;
  const stored: unknown[] = [];
  const asked: DirectoryQuestion[] = [];
  const directoryApplicants = {
    present: async () => google.directory,
    stored: async () => google.directory,
    store: async (_: unknown, key: unknown) => void stored.push(key),
    remove: async () => void stored.push('removed'),
  };
  const read = async () => {
    throw new SecretError('the secret cannot be read');
  };
  const functions: ToolPorts['functions'] = {
    async run(_, event) {
      const { preview, ask } = DirectoryInvocation.parse(JSON.parse(JSON.stringify(event)));
      const found = await requireConnection(world.connection.name, world.ports);
      const directories = createDirectories({ read }, google.world);
      if (ask !== undefined) {
        asked.push(ask.question);
        const reply = await answerQuestion(found, ask, { directories, isTimeUp: () => false });
        return JSON.parse(JSON.stringify({ reports: [reply] }));
      }
      const report =
        preview === undefined
          ? await examineDirectory(found, { directories })
          : await tryDirectory(found, preview, { ...world.ports, directories });
      return JSON.parse(JSON.stringify({ reports: [report] }));
    },
  };
  const deployment = { ...world.ports.deployment, allowsLoopback: true };
  const ports = { ...world.ports, directoryApplicants, functions, deployment };
  const key = join(temporaryFolder(), 'key.json');
  writeFileSync(key, JSON.stringify(google.key));
  const args = ['connect', 'default', '--directory', 'google', '--administrator', ADMIN, '--key', key];
  return {
    google,
    stored,
    /** The questions of commands that the function has answered. */
    asked,
    connect: (...more: string[]) => runCli([...args, '--yes', '--json', ...more], { ports }),
    run: (...given: string[]) => runCli(given, { ports }),
    world,
    /** Runs a command with the options that name the directory. */
    named: (...given: string[]) => runCli([...given, ...args.slice(2), '--json'], { ports }),
    connection: () => ports.connections.current('default' as never),
    setting: async () => (await ports.connections.current('default' as never))?.settings.directory,
  };
}
