import type { ConsoleSignInProps } from '../../shared/contract/console.ts';

/** The setting `console` of a stage whose people sign in with Entra ID. */
export const SIGN_IN = {
  issuer: 'https://login.microsoftonline.com/00000000-1111-2222-3333-444444444444/v2.0',
  clientId: 'client',
  hasSecret: true,
  personClaim: 'preferred_username',
  roles: [{ claim: 'roles', value: 'groupsync-admin', role: 'administrator' as const }],
} satisfies ConsoleSignInProps;
