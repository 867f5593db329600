/*
 * Replaces `undici` in the bundles. The main file of `undici` loads all parts of the package, such as fetch, caches and
 * web sockets. Each cold start would parse a quarter of a megabyte. The platform client uses only `Agent` and
 * `buildConnector`. If the bundler reports that an export of undici is missing, add this export here. The imports use
 * paths, because in the bundle the name `undici` means this file.
 */
import api from '../../node_modules/undici/lib/api/index.js';
import buildConnector from '../../node_modules/undici/lib/core/connect.js';
import Agent from '../../node_modules/undici/lib/dispatcher/agent.js';
import Dispatcher from '../../node_modules/undici/lib/dispatcher/dispatcher.js';

// As in undici's main file, the request functions become methods of every dispatcher.
Object.assign(Dispatcher.prototype, api);

export { Agent, buildConnector };
