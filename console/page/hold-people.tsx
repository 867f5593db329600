import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import type { HeldPeopleCause, HeldPerson } from '../answers.ts';
import { hasWords, searchable } from '../search.ts';
import { csv, download, exact } from './format.ts';
import { Button, Empty, FilterSelect, Filters, Member, personName, Search } from './parts.tsx';
import { given } from './route.ts';
import { type PageColumn, selectionColumn, Table } from './table.tsx';
import { T } from './texts.ts';

interface Props {
  readonly title: string;
  readonly people: readonly HeldPerson[];
  readonly causes: readonly HeldPeopleCause[];
  readonly file: string;
  readonly selection?:
    | {
        readonly picked: ReadonlySet<string>;
        readonly setPicked: (picked: ReadonlySet<string>) => void;
      }
    | undefined;
  readonly children?: ComponentChildren;
}

const NONE = '-';

/** People of a held group, with search and filters. All filters are in the address. */
export function HeldPeople({ title, people, causes, file, selection, children }: Props) {
  const departments = [...new Set(people.map(({ department }) => department ?? NONE))].sort();
  const hasDepartments = departments.some((department) => department !== NONE);
  const texts = useMemo(() => people.map((person) => searchable(textsOf(person))), [people]);
  const found = people.filter(
    (person, at) =>
      hasWords(texts[at] ?? '', given('text')) &&
      (given('department') === '' || given('department') === (person.department ?? NONE)) &&
      (given('cause') === '' || given('cause') === String(person.cause)),
  );
  const boxes =
    selection &&
    selectionColumn<HeldPerson>({
      idOf: ({ user }) => user,
      nameOf: (person) => personName(person) || person.user,
      chosen: selection.picked,
      choose: selection.setPicked,
      all: { label: T.hold.selectAll(found.length), rows: found },
    });
  const columns = [
    ...(boxes === undefined ? [] : [boxes]),
    nameColumn(causes),
    ...(hasDepartments ? [DEPARTMENT] : []),
    ...(causes.length > 1 ? [causeColumn(causes)] : []),
  ];
  const save = () => download(file, csv([HEAD, ...found.map((person) => rowOf(person, causes))]));
  return (
    <section class="plain" aria-label={title}>
      <Filters>
        <Search label={T.group.search} />
        {hasDepartments && (
          <FilterSelect
            name="department"
            label={T.group.columns.department}
            options={{
              '': T.groups.all,
              ...Object.fromEntries(departments.map((one) => [one, departmentText(one)])),
            }}
          />
        )}
        {causes.length > 1 && (
          <FilterSelect
            name="cause"
            label={T.activity.cause}
            options={{
              '': T.groups.all,
              ...Object.fromEntries(causes.map((one, place) => [place, causeText(one)])),
            }}
          />
        )}
        {people.length > 0 && <Button onClick={save}>{T.activity.export}</Button>}
      </Filters>
      {children}
      <div class="card">
        <Table
          label={title}
          columns={columns}
          rows={found}
          keyOf={({ user }) => user}
          empty={<Empty title={people.length === 0 ? T.hold.none : T.hold.noMatch} />}
        />
      </div>
    </section>
  );
}

const textsOf = ({ name, email, department, id, user }: HeldPerson) => [name, email, department, id, user];
const departmentText = (department: string) => (department === NONE ? T.hold.noDepartment : department);
const causeText = ({ because, event }: HeldPeopleCause) =>
  event === null ? because : `${because} · ${event}`;

function causeIn(causes: readonly HeldPeopleCause[], { cause }: HeldPerson): string {
  const found = cause === null ? undefined : causes[cause];
  return found === undefined ? '' : causeText(found);
}

/** On narrow screens, the cause is below the name if there are several causes. */
const nameColumn = (causes: readonly HeldPeopleCause[]): PageColumn<HeldPerson> => ({
  title: T.hold.columns.name,
  width: 'minmax(0, 1.3fr)',
  of: (person) => (
    <span class="who">
      <Member of={person} unknown={T.group.unknownMember} />
      {causes.length > 1 && <small class="narrow muted">{causeIn(causes, person)}</small>}
    </span>
  ),
});

const DEPARTMENT: PageColumn<HeldPerson> = {
  title: T.hold.columns.department,
  of: ({ department }) => department ?? <span class="muted">{T.none}</span>,
  width: 'minmax(0, 0.8fr)',
};

const causeColumn = (causes: readonly HeldPeopleCause[]): PageColumn<HeldPerson> => ({
  title: T.hold.columns.cause,
  of: (person) => causeIn(causes, person),
  kind: 'wide',
});

const HEAD = ['name', 'email', 'department', 'member', 'user', 'cause', 'at', 'event', 'source'];

function rowOf(person: HeldPerson, causes: readonly HeldPeopleCause[]) {
  const { name, email, department, id, user, cause } = person;
  const { because = null, at = null, event = null, source = null } = causes[cause ?? -1] ?? {};
  return [name, email, department, id, user, because, at === null ? null : exact(at), event, source];
}
