import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { added, group, removed, SIX, savedWorld } from '../support/operate/world.ts';

/** Returns the arguments that a shell passes to groupsync for a pasted line. */
const pasted = (line: string): string[] =>
  execFileSync('bash', ['--norc', '-c', `groupsync() { printf '%s\\0' "$@"; }\n${line}`], {
    env: { LC_ALL: 'C.UTF-8' },
    encoding: 'utf8',
  })
    .split('\0')
    .slice(0, -1);

it.each([
  ['begins with a dash', '-x'],
  ['resembles an option', '--all'],
  ['has blanks and both quotes', ` it's "one" `],
  ['is a name that zsh looks up as a program', '=ls'],
  ['has characters that are special in a shell', '$(touch x); `y` & ~'],
  ['has characters outside ASCII', 'Größe 💡'],
  ['has the maximum length', 'x'.repeat(200)],
  ['contains control characters', `\u001b[2J'\\\u202e`],
])('every hint about a group and members with the id %s can be pasted into a shell', async (_, id) => {
  const world = await savedWorld();
  const { cli } = world;
  await world.hire(...SIX);
  const stranger = { type: 'group.member.added', data: { group: { id }, members: [{ id: `${id}m` }] } };
  await world.deliver(id, group(id), added(id, ...SIX), stranger);
  const before = [await cli('pending'), await cli('status', '--', id)];
  await world.deliver(id, removed(id, ...SIX.slice(1)));
  const held = [
    ...[await cli('holds'), await cli('holds', 'show', '--', id), await cli('status', '--', id)],
    ...[await cli('plan', '--', id), await cli('adopt', '--yes', '--', id, 'p')],
    ...[await cli('explain', '--', id, 'm-ann'), await cli('release', '--yes', '--no-wait', '--', id)],
  ];
  const shown = [...before, ...held].map(({ stdout, stderr }) => `${stdout}${stderr}`).join('');
  const hints = [...shown.matchAll(/groupsync (?:explain|holds|release|adopt) .*/g)];
  expect(new Set(hints.map(([hint]) => hint.split(' ')[1])).size).toBe(4);
  for (const [hint] of hints) {
    const words = pasted(hint);
    expect(words, hint).toContain(id);
    const { stderr } = await cli(...words);
    expect(stderr, hint).not.toMatch(/unknown option|missing required|too many|no group|has ever named/);
  }
});
