// Durable memories, the index of their terms, and proposals of memories.
import type { Migration } from '../../database/migrations.ts'

export const memoriesMigration: Migration = {
  number: 25,
  name: 'memories',
  statements: `
create table memories (
  number integer primary key,
  namespace text not null,
  id text not null,
  session_name text,
  agent_name text,
  task_name text,
  parent_task text,
  source text not null,
  source_proposal_id text,
  disabled integer not null,
  deleted integer not null,
  superseded_by text,
  created_at text not null,
  updated_at text not null,
  last_recalled_at text,
  recalled_count integer not null,
  body text not null,
  unique (namespace, id),
  unique (namespace, source_proposal_id)
);
create index memories_by_change on memories (namespace, updated_at, id);

create table memory_tags (
  tag text not null,
  memory integer not null,
  primary key (tag, memory)
) without rowid;
create index memory_tags_by_memory on memory_tags (memory);

create virtual table memory_terms using fts5(
  terms, content = '', contentless_delete = 1, tokenize = "ascii tokenchars '.:'"
);

create table memory_recalls (
  reader text not null,
  memory integer not null,
  primary key (reader, memory)
) without rowid;

create table memory_proposals (
  namespace text not null,
  id text not null,
  task_name text,
  agent_name text,
  type text not null,
  status text not null,
  created_at text not null,
  searched text not null,
  body text not null,
  primary key (namespace, id)
);
create index memory_proposals_by_age on memory_proposals (namespace, created_at, id);
`,
}
