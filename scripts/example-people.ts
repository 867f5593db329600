import type { Random } from './example-random.ts';

/** One person of the example company, as both sides know them: the directory by `memberId`, the platform by the rest. */
export interface Person {
  readonly number: number;
  readonly memberId: string;
  readonly roleId: string;
  readonly userId: string;
  readonly firstName: string;
  /** The name at the end of the story; `formerLastName` is what it was before. */
  readonly lastName: string;
  readonly formerLastName: string | undefined;
  readonly department: string;
  readonly office: string;
  readonly isManager: boolean;
  readonly arrival: 'staff' | 'joiner' | 'not_started';
}

export const DEPARTMENTS = [
  'Engineering',
  'Sales',
  'Customer Support',
  'Marketing',
  'Product',
  'Finance',
  'People',
  'IT',
  'Design',
  'Legal',
] as const;
export const OFFICES = ['Berlin', 'Lisbon', 'Toronto', 'Austin', 'Remote'] as const;

/** Where each of twenty people works; Legal takes the place of Design for every third twenty. */
const DEPARTMENT_OF_TWENTY = [0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8];

function departmentOf(index: number): string {
  const place = DEPARTMENT_OF_TWENTY[index % 20] ?? 0;
  return DEPARTMENTS[place === 8 && index % 60 > 40 ? 9 : place] ?? DEPARTMENTS[0];
}

const STAFF = 340;
const JOINERS = 60;
const NOT_STARTED = 4;

const FIRST_NAMES =
  'Adaeze Aisha Alejandra Amara Anaïs Andrei Anja Arjun Astrid Ayumi Beatriz Benedikt Björn Bruno Camille Carlos Chiara Clara Daniel Dmitri Elena Elif Emeka Emma Farah Felix Fatima Gabriela Giulia Grace Hannah Haruto Helena Hugo Ibrahim Ines Ingrid Isaac Jana Jasper Joana José Julia Kaito Kamila Katarina Kwame Lara Leon Lina Lucia Magnus Malik Mara Marta Mateo Mei Mila Nadia Naomi Nikhil Noémie Nora Olga Oliver Omar Paula Pedro Priya Rafael Rania Renée Rosa Samuel Sanjay Sara Sofia Stefan Tariq Teresa Thomas Uma Valentina Victor Wanjiru Yara Yusuf Zoë'.split(
    ' ',
  );
const LAST_NAMES =
  'Abebe Adeyemi Ahmadi Almeida Andersson Bakker Banerjee Barros Becker Bianchi Brandt Campbell Carvalho Castillo Chen Costa Cruz Dalton Delgado Diallo Dubois Eriksen Esposito Farouk Fernandes Fischer Fontaine Friedrich Garcia Ghosh Gonzalez Greenwood Haddad Hansen Hoffmann Hughes Ibarra Ito Ivanova Jansen Jensen Kapoor Keller Kim Kovács Krüger Kumar Lambert Larsen Leclerc Lindqvist Lopez MacDonald Malik Marques Martinez Mbeki Mendes Meyer Moreau Morgan Müller Nakamura Ndiaye Nguyen Novak Okafor Oliveira Olsen Osei Park Patel Pereira Petrov Quinn Ramos Rashid Richter Rossi Rousseau Salazar Santos Sato Schmidt Silva Singh Sørensen Suzuki Tanaka Torres Varga Vasquez Vogel Wagner Walsh Weber Yamamoto Yilmaz Zhang Zimmermann'.split(
    ' ',
  );

/** Everyone of the story, in the order of their employee numbers. No two share a name. */
export function makePeople(random: Random): Person[] {
  const names = distinctNames(random, STAFF + JOINERS + NOT_STARTED);
  const taken = new Set(names.map((name) => name.join(' ')));
  return Array.from({ length: STAFF + JOINERS + NOT_STARTED }, (_, index) => {
    const [firstName = '', lastName = ''] = names[index] ?? [];
    const isRenamed = index < STAFF && index % 50 === 7;
    const digits = String(index + 1).padStart(4, '0');
    return {
      number: 1_000 + index,
      memberId: `00u7acme${digits}`,
      roleId: `role_${digits}`,
      userId: `user_${digits}`,
      firstName,
      lastName,
      formerLastName: isRenamed ? freeName(firstName, taken) : undefined,
      department: departmentOf(index),
      office: random.pick(OFFICES),
      isManager: index % 9 === 0,
      arrival: index < STAFF ? 'staff' : index < STAFF + JOINERS ? 'joiner' : 'not_started',
    };
  });
}

/** A name given up by one person and borne by another would make the one's old address the other's. */
const freeName = (firstName: string, taken: ReadonlySet<string>): string | undefined =>
  LAST_NAMES.find((lastName) => !taken.has(`${firstName} ${lastName}`));

function distinctNames(random: Random, count: number): (readonly [string, string])[] {
  const all = FIRST_NAMES.flatMap((first) => LAST_NAMES.map((last) => [first, last] as const));
  return random.sample(all, count);
}

/** An address of the example company: ASCII, as most mail systems still ask for. */
export function emailOf(firstName: string, lastName: string): string {
  const local = `${firstName}.${lastName}`
    .normalize('NFD')
    .replaceAll(/\p{Mark}/gu, '')
    .replaceAll('ø', 'o');
  return `${local.toLowerCase()}@acme.example`;
}
