/**
 * The milliseconds that a test waits for an event that must happen. The limit is more than five times the slowest wait
 * on an idle machine. Only a failure takes so long.
 */
export const PATIENCE_MS = 240_000;
