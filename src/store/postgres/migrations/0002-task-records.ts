// Records that belong to a task and go with it: results, artifacts, checkpoints, plans, timeline events, messages, and
// what SQLite's store keeps in files: bodies and logs in pieces.
// Locks and counters per task are rows of their own, because a locked row is what makes two writers take turns in every dialect.
import type { Migration } from '../../database/migrations.ts'

export const taskRecordsMigration: Migration = {
  number: 2,
  name: 'task records',
  statements: `
create table blobs (
  id text collate "C" primary key,
  pieces integer
);
create table blob_pieces (
  blob_id text collate "C" not null references blobs (id) on delete cascade,
  number integer not null,
  bytes bytea not null,
  primary key (blob_id, number)
);
alter table blob_pieces alter column bytes set storage external;
create table log_heads (
  task_uid text collate "C" primary key,
  next_seq bigint not null,
  size bigint not null
);
create table log_pieces (
  task_uid text collate "C" not null,
  first_seq bigint not null,
  size integer not null,
  bytes bytea not null,
  primary key (task_uid, first_seq)
);
create table results (
  task_uid text collate "C" not null,
  attempt integer not null,
  size bigint not null,
  content_type text collate "C" not null,
  created_at text collate "C" not null,
  blob_id text collate "C" references blobs (id),
  content bytea,
  primary key (task_uid, attempt)
);
create index results_by_blob on results (blob_id) where blob_id is not null;
create table artifacts (
  task_uid text collate "C" not null,
  filename text collate "C" not null,
  attempt integer not null,
  size bigint not null,
  content_type text collate "C" not null,
  created_at text collate "C" not null,
  blob_id text collate "C" references blobs (id),
  content bytea,
  primary key (task_uid, filename)
);
create index artifacts_by_blob on artifacts (blob_id) where blob_id is not null;
create table artifact_locks (
  task_uid text collate "C" primary key
);
create table checkpoints (
  task_uid text collate "C" primary key,
  attempt integer not null,
  encoding text collate "C" not null,
  blob_id text collate "C" references blobs (id),
  content bytea
);
create index checkpoints_by_blob on checkpoints (blob_id) where blob_id is not null;
create table plans (
  task_uid text collate "C" primary key,
  namespace text collate "C" not null,
  task_name text collate "C" not null,
  iteration integer not null,
  summary text collate "C" not null,
  progress_pct integer not null,
  goal_complete integer not null,
  plan_document text collate "C" not null,
  created_at text collate "C" not null,
  updated_at text collate "C" not null
);
create table event_counters (
  task_uid text collate "C" primary key,
  last_seq bigint not null
);
create table events (
  task_uid text collate "C" not null,
  seq bigint not null,
  attempt integer not null,
  namespace text collate "C" not null,
  task_name text collate "C" not null,
  type text collate "C" not null,
  phase text collate "C",
  reason text collate "C",
  message text collate "C" not null,
  created_at text collate "C" not null,
  primary key (task_uid, seq)
);
create index events_by_age on events (created_at);
create table messages (
  id bigint generated always as identity primary key,
  namespace text collate "C" not null,
  parent_task text collate "C" not null,
  from_task text collate "C" not null,
  to_task text collate "C" not null,
  content text collate "C" not null,
  created_at text collate "C" not null
);
create index messages_by_parent on messages (namespace, parent_task, id);
create index messages_by_sender on messages (namespace, from_task);
create index messages_by_receiver on messages (namespace, to_task);
create table message_reads (
  message_id bigint not null references messages (id) on delete cascade,
  reader text collate "C" not null,
  primary key (message_id, reader)
);
create index message_reads_by_reader on message_reads (reader);
`,
}
