import { ConnectionSettings } from '../../shared/contract/settings.ts';
import type { GuardLimits } from '../../shared/plan/guard.ts';

/** Returns the limits of the guard. A limit that is not given has its default value. */
export const guardLimits = (limits: Partial<GuardLimits> = {}): GuardLimits =>
  ConnectionSettings.parse({ baseUrl: 'https://platform.test', guard: limits }).guard as GuardLimits;
