import * as z from 'zod';
import { type Frozen, number, text, texts } from './forms.ts';
import type { ViewPointer } from './group-state.ts';
import type { PlatformUserId } from './ids.ts';
import type { View } from './view.ts';

/*
 * Each audit entry that changed the content of a platform group stores a step: `link.view ◀ b → c ◀ a → b ◀ none → a`. An
 * entry whose worker died before its commit is left out, because no later step and no link names its content.
 */

/** How a user is in a group: `+` present, `-` absent, `?` hidden, so the user may be in the group. */
export type UserPresence = '+' | '-' | '?';

export interface StepUser {
  readonly was: UserPresence;
  readonly is: UserPresence;
  /** Whether groupsync changed the user. Another client may have done it at any time since the previous step. */
  readonly isOwn: boolean;
  readonly user: PlatformUserId;
}

export const Step = z.lazy(() =>
  z.object({
    /** The id of the content before the step; absent if it is not known. */
    before: text.exactOptional(),
    after: text,
    /** The step did not happen before this time, and not after the time of its entry. */
    sinceMs: number,
    /** For an uncertain write: the time until which it may still take effect. The content is the same after it. */
    untilMs: number.exactOptional(),
    /** The users that joined, left or were hidden, in the form of `userText`. */
    users: texts.exactOptional(),
    chunks: z.object({ chunks: number, hash: text }).exactOptional(),
  }),
);
export type Step = Frozen<z.infer<typeof Step>>;

export const userText = ({ was, is, isOwn, user }: StepUser): string =>
  `${was}${is}${isOwn ? '=' : '~'}${user}`;
export const stepUserOf = (line: string): StepUser => ({
  was: line[0] as UserPresence,
  is: line[1] as UserPresence,
  isOwn: line[2] === '=',
  user: line.slice(3) as PlatformUserId,
});

export const contentId = ({ id, sameAs }: ViewPointer): string => sameAs ?? id;

type Pointer = { readonly view: ViewPointer } | undefined;
type Linked = { readonly link?: Pointer; readonly previousLink?: Pointer };

/** Returns the id of a group's content. Without a platform group, it names the content of the previous link. */
export function contentOf({ link, previousLink }: Linked): string {
  if (link !== undefined) return contentId(link.view);
  return `${NO_GROUP}${previousLink === undefined ? '' : contentId(previousLink.view)}`;
}
const NO_GROUP = '-';
export const isWithoutGroup = (content: string): boolean => content.startsWith(NO_GROUP);

type Users = Pick<View, 'users' | 'hidden'> | undefined;

/**
 * Returns the step from the present content of a group.
 * @param base the view of the link; undefined without a link, or if the view cannot be read
 * @param next the new link and its view; undefined if the step ends the link
 * @param external the users that another client changed
 */
export function stepFrom(
  seen: Linked,
  base: Users,
  next: { readonly link: NonNullable<Pointer>; readonly view: Users } | undefined,
  { sinceMs, external = [] }: { readonly sinceMs: number; readonly external?: Iterable<string> | 'all' },
): Step {
  const { link = seen.previousLink } = seen;
  const after = next === undefined ? contentOf({ previousLink: link }) : contentId(next.link.view);
  if (seen.link !== undefined && base === undefined) return { after, sinceMs };
  const others = external === 'all' ? undefined : new Set(external);
  const isOwn = (user: string) => others?.has(user) === false;
  const users = usersBetween(seen.link && base, next?.view).map((one) =>
    userText({ ...one, isOwn: isOwn(one.user) }),
  );
  return { before: contentOf(seen), after, sinceMs, users };
}

export function usersBetween(before: Users, after: Users): readonly Omit<StepUser, 'isOwn'>[] {
  const users = [before, after].flatMap((view) => [
    ...(view?.users.keys() ?? []),
    ...(view?.hidden?.keys() ?? []),
  ]);
  return [...new Set(users)]
    .map((user) => ({ user, was: presenceIn(before, user), is: presenceIn(after, user) }))
    .filter(({ was, is }) => was !== is);
}

function presenceIn(view: Users, user: PlatformUserId): UserPresence {
  if (view?.users.has(user)) return '+';
  return view?.hidden?.has(user) ? '?' : '-';
}
