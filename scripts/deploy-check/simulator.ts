import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import * as z from 'zod';
import { ROOT } from './cdk.ts';

export const COMPANY = 'company-acme';
export const TOKEN = 'deploy-check-token';

const PEOPLE = ['ann', 'ben', 'cleo', 'dan', 'eve', 'fay'];

/** The initial data of the simulator: six people, one OAuth application and no group. */
const WORLD = {
  companies: [
    {
      id: COMPANY,
      name: 'Acme',
      employees: PEOPLE.map((name, i) => ({
        id: `role-${name}`,
        userId: `user-${name}`,
        name,
        employeeNumber: String(i + 1),
        roleState: 'ACTIVE',
        workEmail: `${name}@acme.test`,
      })),
    },
  ],
  credentials: [{ token: TOKEN, kind: 'oauth_app', company: COMPANY, role: 'admin' }],
};

const Groups = z.array(
  z.object({ name: z.string(), spokeId: z.string().nullable(), users: z.array(z.string()) }),
);

export interface Platform {
  readonly baseUrl: string;
  /** The users of each group by group name. Names and users are sorted. */
  groups(): Promise<Readonly<Record<string, readonly string[]>>>;
  stop(): void;
}

export async function startPlatform(folder: string): Promise<Platform> {
  const world = join(folder, 'world.json');
  writeFileSync(world, JSON.stringify(WORLD));
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', 'local/platform.ts', '--port', '0', '--world', world],
    { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const baseUrl = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).once('line', (line) => {
      const found = /^listening on (http:\/\/127\.0\.0\.1:\d+)$/.exec(line)?.[1];
      if (found === undefined)
        reject(new Error(`expected "listening on …" from the simulator, got "${line}"`));
      else resolve(found);
    });
    child.once('exit', (code) => reject(new Error(`the simulator ended with ${code}`)));
  });
  return {
    baseUrl,
    async groups() {
      const response = await fetch(`${baseUrl}/platform/api/groups`, {
        headers: { authorization: `Bearer ${TOKEN}` },
      });
      const groups = Groups.parse(await response.json());
      const entries = groups.map(({ name, users }) => [name, [...users].sort()] as const);
      return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
    },
    stop: () => void child.kill(),
  };
}
