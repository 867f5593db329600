import { expect } from 'vitest';
import { type Answer, ERROR } from './server.ts';

/** Expects the complete form of an error (RFC 7644 section 3.12). */
export function expectError(answer: Answer, status: number, scimType?: string): void {
  expect(answer.headers['content-type']).toBe('application/scim+json');
  expect(answer.status).toBe(status);
  expect(answer.body).toEqual({
    schemas: [ERROR],
    status: String(status),
    detail: expect.stringMatching(/\S/),
    ...(scimType === undefined ? {} : { scimType }),
  });
}
