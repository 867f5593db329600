import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLIENT_ID } from '../../directory-simulator/entra/application.ts';
import { DirectoryInvocation } from '../../shared/contract/invocation.ts';
import { createDirectories, openDirectory } from '../../shared/directory/directories.ts';
import type { DirectoryWorld } from '../../shared/directory/exchange.ts';
import { examineDirectory, tryDirectory } from '../../shared/operate/directory/preview.ts';
import { requireConnection } from '../../shared/operate/settings.ts';
import type { ToolPorts } from '../../shared/sync/ports/bundles.ts';
import type { Directory } from '../../shared/sync/ports/directory.ts';
import { SecretError } from '../../shared/sync/ports/secrets.ts';
import { openEntra } from '../directory/entra/reader.ts';
import { openGoogle } from '../directory/google/reader.ts';
import { openOkta } from '../directory/okta/reader.ts';
import { TENANT } from '../directory-simulator/entra/fixture.ts';
import { ADMIN } from '../directory-simulator/fixture.ts';
import { runCli } from '../support/cli/io.ts';
import { temporaryFolder } from '../support/folder.ts';
import { savedWorld } from '../support/operate/world.ts';

type Saved = Awaited<ReturnType<typeof savedWorld>>;

interface Simulated {
  readonly clock: { ms: number };
  readonly directory: Directory;
  readonly world: DirectoryWorld;
}

/** The ports of a connection with a simulated directory. The function `directory` has no secret. */
function portsWith(simulated: Simulated, world: Saved) {
  simulated.clock.ms = world.clock.ms;
  const stored: unknown[] = [];
  const directoryApplicants: ToolPorts['directoryApplicants'] = {
    present: async (setting, secret) => openDirectory(setting, secret, simulated.world),
    stored: async () => simulated.directory,
    store: async (_: unknown, key: unknown) => void stored.push(key),
    remove: async () => void stored.push('removed'),
  };
  const read = async () => {
    throw new SecretError('the secret cannot be read');
  };
  const functions: ToolPorts['functions'] = {
    async run(_, event) {
      const { preview } = DirectoryInvocation.parse(event);
      const found = await requireConnection(world.connection.name, world.ports);
      const directories = createDirectories({ read }, simulated.world);
      const report =
        preview === undefined
          ? await examineDirectory(found, { directories })
          : await tryDirectory(found, preview, { ...world.ports, directories });
      return JSON.parse(JSON.stringify({ reports: [report] }));
    },
  };
  const deployment = { ...world.ports.deployment, allowsLoopback: true };
  const ports = { ...world.ports, directoryApplicants, functions, deployment };
  const connection = () => ports.connections.current('default' as never);
  return { ports, stored, connection, setting: async () => (await connection())?.settings.directory };
}

/** Creates a connection, and a Google directory for it. The function `directory` has no key. */
export async function worldOf(saved: () => Promise<Saved> = savedWorld) {
  const world = await saved();
  const google = await openGoogle();
  const { ports, ...shown } = portsWith(google, world);
  const key = join(temporaryFolder(), 'key.json');
  writeFileSync(key, JSON.stringify(google.key));
  const args = ['connect', 'default', '--directory', 'google', '--administrator', ADMIN, '--key', key];
  const at = ['--directory-url', google.url];
  return {
    ...shown,
    google,
    connect: (...more: string[]) => runCli([...args, ...at, '--yes', '--json', ...more], { ports }),
    run: (...given: string[]) => runCli(given, { ports }),
    world,
    /** Runs a command with the options that name the directory. */
    named: (...given: string[]) => runCli([...given, ...args.slice(2), ...at, '--json'], { ports }),
  };
}

/** Creates a connection, and an Entra directory for it. The function `directory` has no secret. */
export async function entraWorldOf(saved: () => Promise<Saved> = savedWorld) {
  const world = await saved();
  const entra = await openEntra();
  const { ports, ...shown } = portsWith(entra, world);
  const application = ['--tenant', TENANT, '--client-id', CLIENT_ID];
  const args = ['connect', 'default', '--directory', 'entra', ...application];
  return {
    ...shown,
    entra,
    world,
    run: (...given: string[]) => runCli(given, { ports }),
    /** Runs `connect` with a client secret on standard input. */
    connect: (stdin: string, ...more: string[]) =>
      runCli([...args, '--directory-url', entra.url, '--yes', '--json', ...more], { ports, stdin }),
  };
}

/** Creates a connection, and an Okta organisation for it. The function `directory` has no secret. */
export async function oktaWorldOf(saved: () => Promise<Saved> = savedWorld) {
  const world = await saved();
  const okta = await openOkta();
  const { ports, ...shown } = portsWith(okta, world);
  const { clientId, key, apiToken, keyArn } = okta.credentials;
  const file = join(temporaryFolder(), 'key.json');
  writeFileSync(file, JSON.stringify(key));
  const args = ['connect', 'default', '--directory', 'okta', '--directory-url', okta.url];
  const connect = (stdin: string, ...more: string[]) =>
    runCli([...args, '--yes', '--json', ...more], { ports, stdin });
  return {
    ...shown,
    okta,
    run: (...given: string[]) => runCli(given, { ports }),
    connect,
    connectByKey: () => connect('', '--client-id', clientId, '--key', file),
    connectByKms: () => connect('', '--client-id', clientId, '--key-arn', keyArn),
    connectByToken: (token: string = apiToken) => connect(`${token}\n`, '--secret-stdin'),
  };
}
