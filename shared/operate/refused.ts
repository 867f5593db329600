/** The caller may not do this action; another person may. */
export class Refused extends Error {
  override readonly name = 'Refused';
}
