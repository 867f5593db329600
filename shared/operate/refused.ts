/** Thrown if this caller must not perform the action, although another person may. */
export class Refused extends Error {
  override readonly name = 'Refused';
}
