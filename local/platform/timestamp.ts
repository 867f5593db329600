/** A time as the platform writes it, with milliseconds and a UTC offset: `2026-11-20T10:00:00.123+00:00`. */
export const timestamp = (ms: number) => new Date(ms).toISOString().replace('Z', '+00:00');
