/** The flags of `npm run simulate`. */
export const FLAGS = {
  seeds: { type: 'string' },
  from: { type: 'string' },
  seed: { type: 'string' },
  keep: { type: 'string' },
  trace: { type: 'string' },
  only: { type: 'string' },
  days: { type: 'string' },
  crashes: { type: 'string' },
  jobs: { type: 'string' },
  minutes: { type: 'string' },
  deep: { type: 'boolean' },
  planted: { type: 'boolean' },
  all: { type: 'boolean' },
  counts: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;
