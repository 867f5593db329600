import type { Context } from 'aws-lambda';

const ALIAS = /:for-([a-z0-9-]+)$/;

/**
 * Operators of one connection may call a function only by the alias of their connection (infra/operators.ts). A call
 * through an alias must be about the connection of the alias.
 * @throws if the call is about another connection, or about all connections
 */
export function requireOwnConnection(
  { invokedFunctionArn }: Pick<Context, 'invokedFunctionArn'>,
  connection: string | undefined,
): void {
  const [, own] = ALIAS.exec(invokedFunctionArn) ?? [];
  if (own === undefined || own === connection) return;
  throw new Error(`expected a call about the connection ${own}, got ${connection ?? 'all connections'}`);
}
