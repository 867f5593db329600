import type { Keys } from './keys.ts';
import { SERVICE_ACCOUNT } from './sign-in.ts';

/** Returns the file that a customer downloads. It contains the address of this simulator's token endpoint. */
export function serviceAccountKey(keys: Keys, url: string) {
  const { id, privateKey } = keys.customer();
  return {
    type: 'service_account',
    project_id: SERVICE_ACCOUNT.projectId,
    private_key_id: id,
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    client_email: SERVICE_ACCOUNT.email,
    client_id: SERVICE_ACCOUNT.clientId,
    token_uri: `${url}/token`,
    universe_domain: 'googleapis.com',
  };
}
