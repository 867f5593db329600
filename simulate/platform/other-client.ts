import { FIELD_NAMES } from '../../shared/domain/group-fields.ts';
import type { Effect } from '../run-log.ts';
import type { ClientAction } from '../simulation-run.ts';
import type { HeldGroup, PlatformOptions } from './facts.ts';
import type { Groups } from './groups.ts';
import type { InitiatorType } from './rules.ts';

type Edit = Extract<ClientAction, { readonly kind: 'edit' }>;

/** Simulates the people and applications that change groups on the platform directly. */
export function createOtherClient({ runLog, sleep, random, clock }: PlatformOptions, groups: Groups) {
  let fightsEnded = 0;

  /** Returns a function that repeats an edit. Each repetition removes the users that the first edit removed. */
  const editOf = ({ add = [], remove = 0, ...edit }: Edit, known: HeldGroup) => {
    const out = new Set(known.users.slice(0, remove));
    const changed = FIELD_NAMES.filter((field) => edit[field] !== undefined);
    return (now: HeldGroup) => ({
      name: now.name,
      ...Object.fromEntries(changed.map((field) => [field, edit[field]])),
      users: [...new Set([...now.users.filter((user) => !out.has(user)), ...add])],
    });
  };

  const again = async (redo: () => boolean, { everyMs, times }: NonNullable<Edit['again']>) => {
    const begun = fightsEnded;
    for (let left = times; left > 0; ) {
      await sleep(everyMs);
      if (fightsEnded !== begun) return;
      if (!redo()) continue;
      left -= 1;
      runLog.fired('client:again');
    }
  };

  const perform = (action: ClientAction, id: string | undefined, initiator: InitiatorType): boolean => {
    const author = { by: 'client', token: '', initiator };
    const make = (name: string, spokeId: string | null, users: readonly string[]) =>
      groups.create({ name, spokeId, users }, author).group !== undefined;
    if (action.kind === 'own') return make(action.name, action.spokeId, ['u-stranger']);
    const known = groups.held.get(id ?? '');
    if (action.kind === 'recreate' || action.kind === 'twin') {
      if (action.kind === 'recreate' && known !== undefined) groups.remove(known.id, author);
      return make(known?.name ?? action.group, action.group, known?.users ?? []);
    }
    if (known === undefined) return false;
    if (action.kind === 'delete') return groups.remove(known.id, author).group !== undefined;
    if (action.kind !== 'edit') return groups.edit(known.id, () => ({ spokeId: null }), author);
    const edit = editOf(action, known);
    const redo = () => groups.edit(known.id, edit, author);
    const isDone = redo();
    if (action.again !== undefined) void again(redo, action.again);
    return isDone;
  };

  return {
    perform(action: ClientAction, id: string | undefined, given?: InitiatorType, where?: Effect): boolean {
      const own = random.fork(`${action.kind} ${clock()}`);
      const isDone = perform(action, id, given ?? own.pick(['ROLE', 'ROLE', 'EXTERNAL', 'SYSTEM'] as const));
      if (isDone) runLog.fired(`client:${action.kind}`, where);
      return isDone;
    },
    calm() {
      fightsEnded += 1;
    },
  };
}
