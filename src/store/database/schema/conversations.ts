// Conversations and the index of their transcripts; durable memories, their tags and vectors, and proposals of memories.

/** Whose Secrets were given to sessions. The row with an empty word is what those who join a session take turns at. */
export const sessionParticipantTables = `
create table session_participants (
  namespace text not null,
  name text not null,
  word text not null,
  requester text,
  secrets text not null,
  since text not null,
  primary key (namespace, name, word)
) without rowid;
`

export const conversationTables = `
create table sessions (
  namespace text not null,
  name text not null,
  session_type text not null,
  active_task text,
  message_count bigint not null,
  last_message_id bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  created_at text not null,
  updated_at text not null,
  expires_at text,
  provider_namespace text,
  provider_name text,
  model text,
  indexed_through bigint not null default 0,
  title text,
  primary key (namespace, name)
) without rowid;
create index sessions_by_age on sessions (created_at, namespace, name);
create index sessions_by_namespace_age on sessions (namespace, created_at, name);
create index sessions_by_update on sessions (updated_at);
create index sessions_unindexed on sessions (namespace, name) where last_message_id > indexed_through;

create table session_messages (
  namespace text not null,
  name text not null,
  id bigint not null,
  body text not null,
  primary key (namespace, name, id)
);

create table session_appends (
  namespace text not null,
  name text not null,
  word text not null,
  primary key (namespace, name, word)
) without rowid;

create table session_programs (
  namespace text not null,
  name text not null,
  program text not null,
  id text not null,
  body text not null,
  message_count bigint not null,
  primary key (namespace, name)
);

create table transcript_pieces (
  id identity,
  namespace text not null,
  name text not null,
  first_id bigint not null,
  last_id bigint not null
);
create index transcript_pieces_by_session on transcript_pieces (namespace, name);

create table memories (
  number identity reusable,
  namespace text not null,
  id text not null,
  session_name text,
  agent_name text,
  task_name text,
  parent_task text,
  source text not null,
  source_proposal_id text,
  disabled smallint not null,
  deleted smallint not null,
  superseded_by text,
  created_at text not null,
  updated_at text not null,
  last_recalled_at text,
  recalled_count bigint not null,
  body text not null,
  unique (namespace, id),
  unique (namespace, source_proposal_id)
);
create index memories_by_change on memories (namespace, updated_at, id);

create table memory_tags (
  tag text not null,
  memory bigint not null,
  primary key (tag, memory)
) without rowid;
create index memory_tags_by_memory on memory_tags (memory);

create table memory_recalls (
  reader text not null,
  memory bigint not null,
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
create index memory_proposals_by_status on memory_proposals (status, namespace);

create table memory_vectors (
  memory bigint primary key,
  namespace text not null,
  model text not null,
  change bigint not null,
  vector bytea not null
);
create index memory_vectors_by_change on memory_vectors (namespace, change);

create table memory_models (
  namespace text primary key,
  model text not null,
  memories bigint not null,
  change bigint not null
) without rowid;

create table memory_spaces (
  namespace text primary key,
  model text not null,
  space bytea not null
);

create table memory_unplaced (
  number identity,
  memory bigint not null
);
`
