import type {
  AwsAction,
  ClientAction,
  CompanyAction,
  DirectoryAction,
  Happening,
  OperatorAction,
  PlatformAction,
  Way,
} from './simulation-run.ts';

/** A message that arrives once and without a delay. */
const AT_ONCE: Way = { form: 'native', time: 'exact', lateMs: 0, copies: 1 };

/** Returns functions that create the happenings of one connection. */
export const actsOf = (connection: string) => ({
  event: (atMs: number, action: DirectoryAction, way: Partial<Way> = {}): Happening => {
    return { atMs, connection, actor: 'directory', action, way: { ...AT_ONCE, ...way } };
  },
  company: (atMs: number, action: CompanyAction): Happening => {
    return { atMs, connection, actor: 'company', action };
  },
  client: (atMs: number, action: ClientAction): Happening => ({ atMs, connection, actor: 'client', action }),
  platform: (atMs: number, action: PlatformAction): Happening => {
    return { atMs, connection, actor: 'platform', action };
  },
  aws: (atMs: number, action: AwsAction): Happening => ({ atMs, connection, actor: 'aws', action }),
  operator: (atMs: number, action: OperatorAction, by?: string): Happening => {
    return { atMs, connection, actor: 'operator', action, ...(by !== undefined && { by }) };
  },
});
