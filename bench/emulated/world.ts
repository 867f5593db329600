import type { WorldInput } from '../../local/platform/state/world.ts';

/** A company of people `r<n>` / `u<n>` / `p<n>@bench.test`, and one credential. */
export const worldOf = ({
  people,
  token,
}: {
  readonly people: number;
  readonly token: string;
}): WorldInput => ({
  companies: [
    {
      id: 'bench',
      name: 'Bench',
      employees: Array.from({ length: people }, (_, n) => ({
        id: `r${n}`,
        userId: `u${n}`,
        roleState: 'ACTIVE' as const,
        workEmail: `p${n}@bench.test`,
      })),
    },
  ],
  credentials: [{ token, kind: 'oauth_app', company: 'bench', employee: 'r0' }],
});
