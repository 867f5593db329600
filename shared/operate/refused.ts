/** Thrown if this caller may not perform the action, although another person may. */
export class Refused extends Error {
  override readonly name = 'Refused';
}
