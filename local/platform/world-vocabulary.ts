const wordsIn = (...lines: readonly string[]) => lines.flatMap((line) => line.split(', '));

/** Words for the generated world. The names are common in many languages and refer to no real person. */
export const FIRST_NAMES = wordsIn(
  'Aisha, Alejandro, Amara, Anna, Arjun, Aylin, Beatriz, Bogdan, Camille, Chen, Chidi, Clara, Daniel',
  'Dmitri, Elena, Emeka, Emma, Fatima, Felix, Freya, Giulia, Hana, Hugo, Ibrahim, Ines, Ivan, Jamal',
  'Jana, Joao, José, Kai, Kavya, Kwame, Lars, Leila, Liam, Linh, Lucía, Magnus, Mariam, Mateo, Maya',
  'Mehmet, Mei, Mia, Minh, Nadia, Ngozi, Nikolai, Noah, Noor, Olga, Omar, Paula, Priya, Rafael, Renée',
  'Rosa, Sanjay, Sara, Sofia, Søren, Tariq, Thomas, Uma, Valentina, Viktor, Wei, Yara, Yuki, Zanele',
  'Zoë',
);

export const LAST_NAMES = wordsIn(
  'Abara, Ahmed, Almeida, Andersson, Bauer, Bianchi, Chaudhary, Chen, Cohen, Costa, Dubois, Dvořák, Eze',
  'Fernández, Fischer, García, Gupta, Haddad, Hansen, Hoang, Ito, Ivanova, Jensen, Johnson, Kaya, Kim',
  'Kovács, Kowalski, Larsen, Lee, Lindgren, Lopez, Martin, Mbeki, Mensah, Meyer, Moreau, Müller',
  'Nakamura, Nguyen, Novák, Nwosu, O’Brien, Okafor, Öztürk, Papadopoulos, Park, Patel, Petrov, Popescu',
  'Ramos, Rao, Rossi, Saito, Santos, Schmidt, Silva, Singh, Smith, Suzuki, Tanaka, Tran, Van Dijk',
  'Virtanen, Wang, Weber, Williams, Yılmaz, Zhang, Zulu',
);

/** The departments and job titles of the generated world. `share` is the relative number of people. */
export const DEPARTMENTS = [
  {
    name: 'Engineering',
    parent: null,
    share: 30,
    titles: ['Software Engineer', 'Site Reliability Engineer', 'Test Engineer'],
  },
  { name: 'Platform', parent: 'Engineering', share: 10, titles: ['Platform Engineer', 'Database Engineer'] },
  { name: 'Security', parent: 'Engineering', share: 4, titles: ['Security Engineer', 'Security Analyst'] },
  { name: 'Product', parent: null, share: 8, titles: ['Product Manager', 'Product Designer', 'Researcher'] },
  { name: 'Sales', parent: null, share: 16, titles: ['Account Executive', 'Sales Engineer'] },
  { name: 'Customer Success', parent: 'Sales', share: 12, titles: ['Success Manager', 'Support Specialist'] },
  { name: 'Marketing', parent: null, share: 7, titles: ['Content Writer', 'Campaign Manager'] },
  { name: 'Finance', parent: null, share: 5, titles: ['Accountant', 'Financial Analyst'] },
  { name: 'People', parent: null, share: 4, titles: ['Recruiter', 'People Partner'] },
  { name: 'Legal', parent: null, share: 2, titles: ['Counsel', 'Paralegal'] },
  { name: 'IT', parent: null, share: 2, titles: ['IT Administrator', 'Help Desk Technician'] },
] as const;

export const TEAM_NAMES = ['Amber', 'Birch', 'Cedar', 'Delta', 'Ember', 'Fjord', 'Grove', 'Harbor'] as const;
export const LEVELS = ['Executive', 'Director', 'Manager', 'Senior', 'Professional', 'Associate'] as const;

export const WORK_LOCATIONS = [
  {
    nickname: 'San Francisco HQ',
    city: 'San Francisco',
    state: 'CA',
    zip: '94105',
    country: 'US',
    timezone: 'America/Los_Angeles',
    street: '500 Harbor Street',
  },
  {
    nickname: 'New York',
    city: 'New York',
    state: 'NY',
    zip: '10013',
    country: 'US',
    timezone: 'America/New_York',
    street: '80 Canal Place',
  },
  {
    nickname: 'Toronto',
    city: 'Toronto',
    state: 'ON',
    zip: 'M5V 2T6',
    country: 'CA',
    timezone: 'America/Toronto',
    street: '12 Lake Road',
  },
  {
    nickname: 'Dublin',
    city: 'Dublin',
    state: 'L',
    zip: 'D02 X285',
    country: 'IE',
    timezone: 'Europe/Dublin',
    street: '7 Quay Row',
  },
  {
    nickname: 'Bengaluru',
    city: 'Bengaluru',
    state: 'KA',
    zip: '560001',
    country: 'IN',
    timezone: 'Asia/Kolkata',
    street: '21 Garden Cross',
  },
] as const;

export const GROUP_KINDS = [
  'Admins',
  'Readers',
  'On-call',
  'Contractors',
  'Leads',
  'VPN',
  'Repository Writers',
  'Announcements',
] as const;
