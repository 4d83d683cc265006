// Resources as JSON text, the values they are looked up by, the version counter, and owners whose dependants must go.
import type { Migration } from '../../database/migrations.ts'

export const resourcesMigration: Migration = {
  number: 1,
  name: 'resources',
  statements: `
create table resources (
  id integer primary key,
  kind text not null,
  namespace text not null,
  name text not null,
  resource_version integer not null,
  object text not null
);
create unique index resources_by_name on resources (kind, namespace, name);
create table resource_index (
  kind text not null,
  field text not null,
  value text not null,
  namespace text not null,
  name text not null,
  primary key (kind, field, value, namespace, name)
) without rowid;
create table resource_counter (
  id integer primary key check (id = 1),
  resource_version integer not null
);
insert into resource_counter (id, resource_version) values (1, 0);
create table absent_owners (
  namespace text not null,
  uid text not null,
  version integer not null,
  primary key (namespace, uid)
) without rowid;
`,
}
