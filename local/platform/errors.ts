import type { z } from 'zod';

/**
 * An error response. The specification defines neither error codes nor an error body ("Errors"). The simulator sends
 * `{"error": {"code", "message", "requestId"}}`.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

export const badRequest = (message: string) => new ApiError(400, 'bad_request', message);
export const forbidden = (message: string) => new ApiError(403, 'forbidden', message);
export const notFound = (what: string, id: string) =>
  new ApiError(404, 'not_found', `no ${what} has the id ${JSON.stringify(id)}`);

/** Formats all problems that zod found, with the path of each field: `body.users[3]: Invalid input: …`. */
export function describeIssues(error: z.core.$ZodError, root: string): string {
  return error.issues.map((issue) => `${fieldPath(root, issue.path)}: ${issue.message}`).join('; ');
}

function fieldPath(root: string, path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    return text === '' ? String(key) : `${text}.${String(key)}`;
  }, root);
}
