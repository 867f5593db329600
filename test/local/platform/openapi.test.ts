import { expect, test } from 'vitest';
import { ENDPOINTS } from '../../../local/platform/endpoints.ts';
import { LEAVE, startSimulator } from './fixture.ts';

test('the OpenAPI document describes every endpoint, parameter and body, and every reference resolves', async () => {
  const { call } = startSimulator();
  const document = (await call('GET /openapi.json', { token: null })).json;
  expect(document.openapi).toBe('3.1.0');
  for (const { method, path, operationId, query, params, body } of ENDPOINTS) {
    const operation = document.paths[path.replaceAll(/:(\w+)/g, '{$1}')][method.toLowerCase()];
    expect(operation.operationId).toBe(operationId);
    expect(operation.requestBody !== undefined).toBe(body !== undefined);
    expect(operation.parameters !== undefined).toBe(query !== undefined || params !== undefined);
  }
  const references = JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g);
  const names = [...references].map(([, name]) => name);
  expect(names.length).toBeGreaterThan(50);
  expect(names.filter((name) => document.components.schemas[name ?? ''] === undefined)).toEqual([]);
  expect(JSON.stringify(document)).not.toContain('#/$defs/');
});

test('every successful answer has the form that the OpenAPI document describes', async () => {
  const { call } = startSimulator();
  const [leave] = (await call('POST /leave_requests', { body: LEAVE })).json;
  const requests: Record<string, [request: string, body?: unknown]> = {
    readEmployee: ['GET /employees/r1'],
    createLeaveRequest: ['POST /leave_requests', LEAVE],
    updateLeaveRequest: [`PATCH /leave_requests/${leave.id}`, { comments: 'Back soon' }],
    processLeaveRequest: [`POST /leave_requests/${leave.id}/process?action=approve`],
    readLeaveBalance: ['GET /leave_balances/r1'],
    createGroup: ['POST /groups', { name: 'G' }],
    readGroup: ['GET /groups/g1'],
    replaceGroup: ['PUT /groups/g1', { name: 'G' }],
    patchGroup: ['PATCH /groups/g1', { name: 'H' }],
    deleteGroup: ['DELETE /groups/g1'],
    pushCandidate: ['POST /ats_candidates/push_candidate', { name: 'K', email: 'k@mail.test' }],
    markAppInstalled: ['POST /mark_app_installed'],
  };
  for (const { method, path, operationId, response } of ENDPOINTS) {
    const [request, body] = requests[operationId] ?? [`${method} ${path.replace('/platform/api', '')}`];
    const { status, json } = await call(request, body === undefined ? {} : { body });
    expect(status, operationId).toBe(200);
    expect(response.parse(json), operationId).toEqual(json);
  }
});

test('the page at / lists every endpoint, shows no token, and loads nothing from other hosts', async () => {
  const { call, simulator } = startSimulator();
  const { text, headers } = await call('GET /', { token: null });
  expect(headers['content-type']).toContain('text/html');
  for (const { path } of ENDPOINTS) {
    expect(text).toContain(`<code>${path.replaceAll(/:(\w+)/g, '{$1}')}</code>`);
  }
  for (const { token } of simulator.credentials) expect(text).not.toContain(token);
  expect(text).not.toMatch(/(src|href)="(https?:)?\/\//);
});
