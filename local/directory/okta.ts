import * as z from 'zod';
import type { LocalVendor } from './vendor.ts';

const Client = z.object({ clientId: z.string(), key: z.record(z.string(), z.unknown()) });

export const oktaDirectory: LocalVendor = {
  async accessTo({ app }, url) {
    const answer = await app.inject({ method: 'POST', url: '/_simulator/client', payload: {} });
    const { clientId, key } = Client.parse(answer.json());
    return { setting: { kind: 'okta', orgUrl: url, clientId }, key };
  },
};
