/*
 * Replaces `@aws-sdk/credential-provider-node` in the bundles. Lambda gives a function its credentials in environment
 * variables for the life of the execution environment (Lambda developer guide, "Defined runtime environment
 * variables"). So the SDK never uses any provider of its chain except the first. This substitute contains only that
 * provider, so a function loads a third less code.
 */
import { fromEnv } from '@aws-sdk/credential-provider-env';

export const defaultProvider = fromEnv;
