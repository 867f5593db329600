/** The longest wait of a test in milliseconds: over five times the slowest wait on an idle machine. */
export const PATIENCE_MS = 240_000;
