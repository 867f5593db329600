/**
 * Milliseconds that a test waits for something that must happen: more than five times what the slowest wait takes on an
 * idle machine. Only a failure ever takes so long.
 */
export const PATIENCE_MS = 240_000;
