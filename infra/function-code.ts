import {
  FUNCTION_KEYS,
  type FunctionKey,
  OPTIONAL_FUNCTION_KEYS,
  type OptionalFunctionKey,
} from '../shared/contract/names.ts';

export const DEPLOYABLE_KEYS = [...FUNCTION_KEYS, ...OPTIONAL_FUNCTION_KEYS] as const;
export type DeployableKey = FunctionKey | OptionalFunctionKey;

/** One folder per function, each with an `index.mjs` that exports `handler`. */
export type FunctionCode = Readonly<Record<DeployableKey, string>>;
