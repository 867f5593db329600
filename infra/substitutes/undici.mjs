/*
 * Takes the place of `undici` in the bundles: its entry loads everything it has (fetch, caches, mocks, proxies, web
 * sockets), a quarter of a megabyte that is parsed at each cold start. The client uses an agent and its requests; a name
 * that it needs besides is added here, and the bundler says so by its absence. By path, because in the bundle the name
 * `undici` means this file.
 */
import api from '../../node_modules/undici/lib/api/index.js';
import buildConnector from '../../node_modules/undici/lib/core/connect.js';
import Agent from '../../node_modules/undici/lib/dispatcher/agent.js';
import Dispatcher from '../../node_modules/undici/lib/dispatcher/dispatcher.js';

// As undici's own entry does: requests are methods of every dispatcher.
Object.assign(Dispatcher.prototype, api);

export { Agent, buildConnector };
