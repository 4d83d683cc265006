// Which memory has which term, as FTS5 knows it, and vectors of memories.
import type { Migration } from '../../database/migrations.ts'

export const memoryVectorsMigration: Migration = {
  number: 26,
  name: 'memory-vectors',
  statements: `
create virtual table memory_postings using fts5vocab(memory_terms, instance);

create table memory_vectors (
  memory integer primary key,
  namespace text not null,
  model text not null,
  change integer not null,
  vector blob not null
);
create index memory_vectors_by_change on memory_vectors (namespace, change);

create table memory_models (
  namespace text primary key,
  model text not null,
  memories integer not null,
  change integer not null
) without rowid;

create table memory_spaces (
  namespace text primary key,
  model text not null,
  space blob not null
);

create table memory_unplaced (
  number integer primary key autoincrement,
  memory integer not null
);
insert into memory_unplaced (memory) select number from memories;
`,
}
