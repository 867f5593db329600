import { fileURLToPath } from 'node:url';
import { Annotations, App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import cdkJson from '../../cdk.json' with { type: 'json' };
import { ConnectorStack } from '../../infra/connector-stack.ts';
import { DEPLOYABLE_KEYS, type DeployableKey, type FunctionCode } from '../../infra/function-code.ts';
import { readSettings } from '../../infra/settings.ts';

/** Handlers that do nothing. The template does not depend on the code of the functions. */
export const code = Object.fromEntries(
  DEPLOYABLE_KEYS.map((name) => [name, fileURLToPath(new URL(`fixture/${name}`, import.meta.url))]),
) as Record<DeployableKey, string> satisfies FunctionCode;

interface Synthesised {
  readonly app: App;
  readonly stack: ConnectorStack;
  readonly template: Template;
}

/**
 * Synthesises the stack of one stage, with the feature flags of cdk.json. The given settings override the settings of
 * the context.
 */
export function synthesise(given: Record<string, unknown> = {}): Synthesised {
  const app = new App({ context: cdkJson.context });
  const settings = readSettings({ ...app.node.getAllContext(), ...given });
  const stack = new ConnectorStack(app, settings.prefix, { settings, code, env: { region: 'eu-west-1' } });
  // Most tests set no target of alarms. Their output would consist mostly of this warning.
  Annotations.of(stack).acknowledgeWarning('groupsync:no-alarm-target');
  return { app, stack, template: Template.fromStack(stack) };
}

export interface CfnResource {
  readonly Type: string;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
  // biome-ignore lint/suspicious/noExplicitAny: properties differ by type, and the assertions read deep into them
  readonly Properties: any;
}

export const resourcesOf = (template: Template, type: string): Record<string, CfnResource> =>
  template.findResources(type) as Record<string, CfnResource>;

export const everyResourceOf = (template: Template) =>
  template.toJSON()['Resources'] as Record<string, CfnResource>;

export interface Statement {
  readonly Sid?: string;
  readonly Effect: string;
  readonly Principal?: '*' | { readonly Service?: unknown; readonly AWS?: unknown };
  readonly Action: string | string[];
  readonly Resource?: unknown;
  readonly Condition?: Record<string, Record<string, unknown>> | undefined;
}

export function listed<T>(value: T | T[] | undefined): T[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}
