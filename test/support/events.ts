let sentCount = 0;

/** Returns a native event of now, with a higher sequence than all earlier events. `more` replaces any field. */
export function nativeEvent(type: string, data: unknown, more: object = {}): string {
  sentCount += 1;
  const place = { id: `native-${sentCount}`, sequence: String(sentCount), time: new Date().toISOString() };
  const event = { specversion: '1.0', source: 'test', type: `directory.${type}`, data };
  return JSON.stringify({ ...event, ...place, ...more });
}

/** Returns a company with an app. `ann` has the role `r-ann`, the user `u-ann` and the address `ann@acme.test`. */
export const acmeOf = (people: readonly string[], token: string) => {
  const employees = people.map((name) => ({
    id: `r-${name}`,
    userId: `u-${name}`,
    name,
    workEmail: `${name}@acme.test`,
  }));
  return {
    companies: [{ id: 'acme', name: 'Acme', employees, groups: [] }],
    credentials: [{ token, kind: 'oauth_app' as const, company: 'acme' }],
  };
};
