// Durable memories, the index of their terms, and proposals of memories.
import type { Migration } from '../../database/migrations.ts'

export const memoriesMigration: Migration = {
  number: 25,
  name: 'memories',
  statements: `
create table memories (
  number bigint generated always as identity primary key,
  namespace text collate "C" not null,
  id text collate "C" not null,
  session_name text collate "C",
  agent_name text collate "C",
  task_name text collate "C",
  parent_task text collate "C",
  source text collate "C" not null,
  source_proposal_id text collate "C",
  disabled smallint not null,
  deleted smallint not null,
  superseded_by text collate "C",
  created_at text collate "C" not null,
  updated_at text collate "C" not null,
  last_recalled_at text collate "C",
  recalled_count bigint not null,
  body text collate "C" not null,
  unique (namespace, id),
  unique (namespace, source_proposal_id)
);
create index memories_by_change on memories (namespace, updated_at, id);

create table memory_tags (
  tag text collate "C" not null,
  memory bigint not null,
  primary key (tag, memory)
);
create index memory_tags_by_memory on memory_tags (memory);

create table memory_terms (
  namespace text collate "C" not null,
  term text collate "C" not null,
  memory bigint not null,
  frequency integer not null,
  length integer not null
);
create index memory_terms_by_term on memory_terms (namespace, term) include (memory, frequency, length);
create index memory_terms_by_memory on memory_terms (memory);

create table memory_totals (
  namespace text collate "C" primary key,
  memories bigint not null,
  terms bigint not null
);

create table memory_recalls (
  reader text collate "C" not null,
  memory bigint not null,
  primary key (reader, memory)
);

create table memory_proposals (
  namespace text collate "C" not null,
  id text collate "C" not null,
  task_name text collate "C",
  agent_name text collate "C",
  type text collate "C" not null,
  status text collate "C" not null,
  created_at text collate "C" not null,
  searched text collate "C" not null,
  body text collate "C" not null,
  primary key (namespace, id)
);
create index memory_proposals_by_age on memory_proposals (namespace, created_at, id);
`,
}
