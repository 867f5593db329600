/**
 * The time in milliseconds that a test waits for an expected event. The limit is more than five times the slowest wait
 * on an idle machine, so only a failure reaches the limit.
 */
export const PATIENCE_MS = 240_000;
