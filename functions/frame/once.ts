/* A function connects its ports once. Later invocations in the same container use the same clients. Tests replace this. */
export { once } from '../../shared/domain/once.ts';
