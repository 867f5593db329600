import type { Context } from 'aws-lambda';

const ALIAS = /:for-([a-z0-9-]+)$/;

/**
 * Operators of one connection may call a function only by the alias of their connection (infra/operators.ts). Then the
 * call must be about this connection.
 * @throws if the call is about another connection, or about all
 */
export function requireOwnConnection(
  { invokedFunctionArn }: Pick<Context, 'invokedFunctionArn'>,
  connection: string | undefined,
): void {
  const [, own] = ALIAS.exec(invokedFunctionArn) ?? [];
  if (own === undefined || own === connection) return;
  throw new Error(`expected a call about the connection ${own}, got ${connection ?? 'all connections'}`);
}
