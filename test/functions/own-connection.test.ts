import { expect, it } from 'vitest';
import { requireOwnConnection } from '../../functions/frame/own-connection.ts';

const FUNCTION = 'arn:aws:lambda:eu-west-1:111122223333:function:groupsync-reconcile';

it.each([
  [FUNCTION, 'acme'],
  [FUNCTION, undefined],
  [`${FUNCTION}:$LATEST`, undefined],
  [`${FUNCTION}:for-acme`, 'acme'],
])('a call of %s about the connection %s is accepted', (invokedFunctionArn, connection) => {
  expect(() => requireOwnConnection({ invokedFunctionArn }, connection)).not.toThrow();
});

it.each(['other', 'acme-2', undefined])('a call through the alias about %s is refused', (connection) => {
  const context = { invokedFunctionArn: `${FUNCTION}:for-acme` };
  expect(() => requireOwnConnection(context, connection)).toThrow(
    'expected a call about the connection acme',
  );
});
