/*
 * Replaces `undici` in the bundles. The package's entry loads all its parts (fetch, caches, mocks, proxies, web sockets):
 * a quarter of a megabyte that is parsed at each cold start. The client uses only an agent and its requests. If it uses
 * another name, the bundler reports the missing export, and the name is added here. The imports use paths, because in
 * the bundle the name `undici` means this file.
 */
import api from '../../node_modules/undici/lib/api/index.js';
import buildConnector from '../../node_modules/undici/lib/core/connect.js';
import Agent from '../../node_modules/undici/lib/dispatcher/agent.js';
import Dispatcher from '../../node_modules/undici/lib/dispatcher/dispatcher.js';

// undici's own entry does the same: requests become methods of every dispatcher.
Object.assign(Dispatcher.prototype, api);

export { Agent, buildConnector };
