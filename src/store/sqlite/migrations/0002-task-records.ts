// Records that belong to a task and go with it: results, artifacts, checkpoints, plans, timeline events, messages.
// Locks and counters per task are rows of their own, because a locked row is what makes two writers take turns in every dialect.
import type { Migration } from '../../database/migrations.ts'

export const taskRecordsMigration: Migration = {
  number: 2,
  name: 'task records',
  statements: `
create table results (
  task_uid text not null,
  attempt integer not null,
  size integer not null,
  content_type text not null,
  created_at text not null,
  blob_id text,
  content blob,
  primary key (task_uid, attempt)
);
create index results_by_blob on results (blob_id) where blob_id is not null;
create table artifacts (
  task_uid text not null,
  filename text not null,
  attempt integer not null,
  size integer not null,
  content_type text not null,
  created_at text not null,
  blob_id text,
  content blob,
  primary key (task_uid, filename)
);
create index artifacts_by_blob on artifacts (blob_id) where blob_id is not null;
create table artifact_locks (
  task_uid text primary key
) without rowid;
create table checkpoints (
  task_uid text primary key,
  attempt integer not null,
  encoding text not null,
  blob_id text,
  content blob
);
create index checkpoints_by_blob on checkpoints (blob_id) where blob_id is not null;
create table plans (
  task_uid text primary key,
  namespace text not null,
  task_name text not null,
  iteration integer not null,
  summary text not null,
  progress_pct integer not null,
  goal_complete integer not null,
  plan_document text not null,
  created_at text not null,
  updated_at text not null
);
create table event_counters (
  task_uid text primary key,
  last_seq integer not null
) without rowid;
create table events (
  task_uid text not null,
  seq integer not null,
  attempt integer not null,
  namespace text not null,
  task_name text not null,
  type text not null,
  phase text,
  reason text,
  message text not null,
  created_at text not null,
  primary key (task_uid, seq)
) without rowid;
create index events_by_age on events (created_at);
create table messages (
  id integer primary key autoincrement,
  namespace text not null,
  parent_task text not null,
  from_task text not null,
  to_task text not null,
  content text not null,
  created_at text not null
);
create index messages_by_parent on messages (namespace, parent_task, id);
create index messages_by_sender on messages (namespace, from_task);
create index messages_by_receiver on messages (namespace, to_task);
create table message_reads (
  message_id integer not null references messages (id) on delete cascade,
  reader text not null,
  primary key (message_id, reader)
) without rowid;
create index message_reads_by_reader on message_reads (reader);
`,
}
