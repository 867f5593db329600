import * as z from 'zod';
import { Delivery } from '../../domain/delivery.ts';
import { type Answer, instant } from './forms.ts';

const DeliveryRow = z.object({
  ...Delivery.omit({ atMs: true }).shape,
  at: instant.describe('For a message, the time at which it was first sent.'),
});
export type DeliveryRow = Answer<typeof DeliveryRow>;

export const SentEvents = DeliveryRow.pick({ client: true, at: true, elapsedMs: true, events: true });
export type SentEvents = Answer<typeof SentEvents>;

export const DeliveryReport = z.object({
  deliveries: z.array(DeliveryRow),
  complete: z.boolean().describe('Whether no older delivery matches.'),
});
export type DeliveryReport = Answer<typeof DeliveryReport>;
