// The schema of the SQLite store, step by step. New steps are added at the end; released ones are never changed.
import type { Migration } from '../database/migrations.ts'
import { memoryOrigins } from '../database/schema/memory-origins.ts'
import { recordTables, toSqlite } from '../database/schema/records.ts'
import { storedResponseMakers, storedResponseTables } from '../database/schema/stored-responses.ts'

/** Resources as JSON text, the values they are looked up by, the version counter, and owners whose dependants must go. */
const resourceTables = `
create table resources (
  id integer primary key,
  kind text not null,
  namespace text not null,
  name text not null,
  resource_version integer not null,
  object text not null,
  created text not null default ''
);
create unique index resources_by_name on resources (kind, namespace, name);
create index resources_by_creation on resources (kind, created);
create index resources_by_namespace_and_creation on resources (kind, namespace, created);

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

create table absent_owners (
  namespace text not null,
  uid text not null,
  version integer not null,
  primary key (namespace, uid)
) without rowid;
insert into resource_counter (id, resource_version) values (1, 0);
`

const indexes = `
create virtual table transcript_grams using fts5(
  grams, content='', contentless_delete=1, detail=none, tokenize='ascii'
);

create virtual table memory_terms using fts5(
  terms, content = '', contentless_delete = 1, tokenize = "ascii tokenchars '.:'"
);
create virtual table memory_postings using fts5vocab(memory_terms, instance);
`

export const migrations: readonly Migration[] = [
  {
    number: 1,
    name: 'first release',
    statements: `${resourceTables}${toSqlite(recordTables)}${indexes}`,
    replaces: {
      steps: 35,
      first: '14bcfdf37484b05973f27b53c75e1c2602ef39dd94cb4c7e99f8395375ba75f7',
      all: '477c68e59fae2b8c03eff056e79d777f870a638378775d4776ec099caef094c1',
    },
  },
  { number: 2, name: 'stored responses', statements: toSqlite(storedResponseTables) },
  { number: 3, name: 'memories by origin', statements: memoryOrigins },
  { number: 4, name: 'makers of stored responses', statements: toSqlite(storedResponseMakers) },
]
