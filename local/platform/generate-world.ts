import type { WorldInput } from './state/world.ts';

export interface WorldSize {
  readonly people: number;
  readonly groups: number;
  readonly seed: string;
  /** Milliseconds since 1970; the only clock of the generator. */
  readonly nowMs: number;
}

/** A world of this size. The same arguments give the same world, byte for byte. */
export function generateWorld({ people, groups, seed }: WorldSize): WorldInput {
  const id = `company-${seed}`;
  return {
    companies: [
      {
        id,
        name: 'Example Company',
        employees: Array.from({ length: people }, (_, index) => ({
          id: `role-${index + 1}`,
          userId: `user-${index + 1}`,
          name: `Person ${index + 1}`,
          workEmail: `person${index + 1}@example.test`,
        })),
        groups: Array.from({ length: groups }, (_, index) => ({
          id: `group-${index + 1}`,
          name: `Group ${index + 1}`,
        })),
      },
    ],
    credentials: [
      { token: `app-token-${seed}`, kind: 'oauth_app', company: id, role: 'admin', app: 'groupsync' },
    ],
  };
}
