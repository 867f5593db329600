/** The caller may not do it; another person may. */
export class Refused extends Error {
  override readonly name = 'Refused';
}
