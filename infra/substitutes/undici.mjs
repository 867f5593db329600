/*
 * Replaces `undici` in the bundles. The package's entry loads all its parts (fetch, caches, mocks, proxies, web
 * sockets): a quarter of a megabyte that is parsed at each cold start. The platform client uses only `Agent` with its
 * requests, and `buildConnector`. If groupsync uses another export of undici, the bundler reports that it is missing.
 * Then add the export here. The imports use paths, because in the bundle the name `undici` means this file.
 */
import api from '../../node_modules/undici/lib/api/index.js';
import buildConnector from '../../node_modules/undici/lib/core/connect.js';
import Agent from '../../node_modules/undici/lib/dispatcher/agent.js';
import Dispatcher from '../../node_modules/undici/lib/dispatcher/dispatcher.js';

// undici's own entry does the same: requests become methods of every dispatcher.
Object.assign(Dispatcher.prototype, api);

export { Agent, buildConnector };
