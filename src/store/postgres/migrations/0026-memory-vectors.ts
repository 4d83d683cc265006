// Vectors of memories.
import type { Migration } from '../../database/migrations.ts'

export const memoryVectorsMigration: Migration = {
  number: 26,
  name: 'memory-vectors',
  statements: `
create table memory_vectors (
  memory bigint primary key,
  namespace text collate "C" not null,
  model text collate "C" not null,
  change bigint not null,
  vector bytea not null
);
create index memory_vectors_by_change on memory_vectors (namespace, change);

create table memory_models (
  namespace text collate "C" primary key,
  model text collate "C" not null,
  memories bigint not null,
  change bigint not null
);

create table memory_spaces (
  namespace text collate "C" primary key,
  model text collate "C" not null,
  space bytea not null
);

create table memory_unplaced (
  number bigint generated always as identity primary key,
  memory bigint not null
);
insert into memory_unplaced (memory) select number from memories;
`,
}
