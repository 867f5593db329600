import type { DirectoryAction, Happening, OperatorAction, Way } from './simulation-run.ts';

/** A message that arrives once and without a delay. */
const AT_ONCE: Way = { form: 'native', time: 'exact', lateMs: 0, copies: 1 };

/** Returns functions that create the happenings of one connection. */
export function actsOf(connection: string) {
  const by =
    <Actor extends 'company' | 'client' | 'platform' | 'aws'>(actor: Actor) =>
    (atMs: number, action: Extract<Happening, { readonly actor: Actor }>['action']) =>
      ({ atMs, connection, actor, action }) as Happening;
  return {
    event: (atMs: number, action: DirectoryAction, way: Partial<Way> = {}): Happening => {
      return { atMs, connection, actor: 'directory', action, way: { ...AT_ONCE, ...way } };
    },
    company: by('company'),
    client: by('client'),
    platform: by('platform'),
    aws: by('aws'),
    operator: (atMs: number, action: OperatorAction, by?: string): Happening => {
      return { atMs, connection, actor: 'operator', action, ...(by !== undefined && { by }) };
    },
  };
}
