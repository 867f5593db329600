import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLIENT_ID } from '../../directory-simulator/entra/application.ts';
import { DirectoryInvocation, type DirectoryQuestion } from '../../shared/contract/invocation.ts';
import { answerQuestion } from '../../shared/directory/operate/answer.ts';
import { examineDirectory, tryDirectory } from '../../shared/directory/operate/preview.ts';
import type { Directory } from '../../shared/directory/ports.ts';
import { createDirectories, openDirectory } from '../../shared/directory/vendors/directories.ts';
import type { DirectoryWorld } from '../../shared/directory/vendors/exchange.ts';
import { requireConnection } from '../../shared/operate/settings.ts';
import { recording } from '../../shared/runtime/recorder.ts';
import type { ToolPorts } from '../../shared/sync/ports/bundles.ts';
import { SecretError } from '../../shared/sync/ports/secrets.ts';
import { openEntra } from '../directory/vendors/entra/reader.ts';
import { openGoogle } from '../directory/vendors/google/reader.ts';
import { openOkta } from '../directory/vendors/okta/reader.ts';
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

interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly fix: string;
}

/** The ports of a connection with a simulated directory. The function `directory` has no secret. */
function portsWith(simulated: Simulated, world: Saved, present: ToolPorts['directoryApplicants']['present']) {
  simulated.clock.ms = world.clock.ms;
  const stored: unknown[] = [];
  const asked: DirectoryQuestion[] = [];
  const directoryApplicants: ToolPorts['directoryApplicants'] = {
    present,
    store: async (_: unknown, key: unknown) => void stored.push(key),
    remove: async () => void stored.push('removed'),
  };
  const read = async () => {
    const key = stored.at(-1);
    if (key === undefined || key === 'removed') throw new SecretError('the secret cannot be read');
    return key;
  };
  const functions: ToolPorts['functions'] = {
    async run(name, event) {
      if (name !== 'directory') return world.ports.functions.run(name, event);
      const { preview, ask, record } = DirectoryInvocation.parse(JSON.parse(JSON.stringify(event)));
      const found = await requireConnection(world.connection.name, world.ports);
      const directories = createDirectories({ read }, simulated.world);
      if (ask !== undefined) {
        asked.push(ask.question);
        const reply = await answerQuestion(found, ask, { directories, isTimeUp: () => false });
        return JSON.parse(JSON.stringify({ reports: [reply] }));
      }
      const report = async () =>
        preview === undefined
          ? await examineDirectory(found, { directories })
          : await tryDirectory(found, preview, { ...world.ports, directories });
      return JSON.parse(JSON.stringify(await recording(record, async () => ({ reports: [await report()] }))));
    },
  };
  const deployment = { ...world.ports.deployment, allowsLoopback: true };
  const ports = { ...world.ports, directoryApplicants, functions, deployment };
  const connection = () => ports.connections.current('default' as never);
  const run = (...given: string[]) => runCli(given, { ports });
  return {
    ports,
    stored,
    run,
    /** Returns the checks of doctor about the directory. */
    checks: async (): Promise<readonly Check[]> =>
      (await run('doctor', '--json')).json.checks.filter(({ name }: Check) => name.includes(': directory')),
    /** The requests that commands sent to the function. */
    asked,
    connection,
    setting: async () => (await connection())?.settings.directory,
  };
}

/** Creates a connection, and a Google directory for it. The function `directory` has no key. */
export async function worldOf(saved: () => Promise<Saved> = savedWorld) {
  const world = await saved();
  const google = await openGoogle();
  const { ports, ...shown } = portsWith(google, world, async () => google.directory);
  const key = join(temporaryFolder(), 'key.json');
  writeFileSync(key, JSON.stringify(google.key));
  const args = ['connect', 'default', '--directory', 'google', '--administrator', ADMIN, '--key', key];
  return {
    ...shown,
    google,
    connect: (...more: string[]) => runCli([...args, '--yes', '--json', ...more], { ports }),
    world,
    /** Runs a command with the options that name the directory. */
    plain: (...given: string[]) => runCli([...given, ...args.slice(2)], { ports }),
    named: (...given: string[]) => runCli([...given, ...args.slice(2), '--json'], { ports }),
  };
}

/** Creates a connection, and an Entra directory for it. The function `directory` has no secret. */
export async function entraWorldOf(saved: () => Promise<Saved> = savedWorld) {
  const world = await saved();
  const entra = await openEntra();
  const { ports, ...shown } = portsWith(entra, world, (setting, secret) =>
    openDirectory(setting, secret, entra.world),
  );
  const application = ['--tenant', TENANT, '--client-id', CLIENT_ID];
  const args = ['connect', 'default', '--directory', 'entra', ...application];
  return {
    ...shown,
    entra,
    world,
    /** Runs `connect` with a client secret on standard input. */
    connect: (stdin: string, ...more: string[]) =>
      runCli([...args, '--directory-url', entra.url, '--yes', '--json', ...more], { ports, stdin }),
  };
}

/** Creates a connection, and an Okta organisation for it. The function `directory` has no secret. */
export async function oktaWorldOf(saved: () => Promise<Saved> = savedWorld) {
  const world = await saved();
  const okta = await openOkta();
  const { ports, ...shown } = portsWith(okta, world, (setting, secret) =>
    openDirectory(setting, secret, okta.world),
  );
  const { clientId, key, apiToken, keyArn } = okta.credentials;
  const file = join(temporaryFolder(), 'key.json');
  writeFileSync(file, JSON.stringify(key));
  const args = ['connect', 'default', '--directory', 'okta', '--directory-url', okta.url];
  const connect = (stdin: string, ...more: string[]) =>
    runCli([...args, '--yes', '--json', ...more], { ports, stdin });
  return {
    ...shown,
    okta,
    connect,
    connectByKey: () => connect('', '--client-id', clientId, '--key', file),
    connectByKms: () => connect('', '--client-id', clientId, '--key-arn', keyArn),
    connectByToken: (token: string = apiToken) => connect(`${token}\n`, '--secret-stdin'),
  };
}
