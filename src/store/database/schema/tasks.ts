// Records that belong to a task and go with it: results, files, checkpoints, plans, timeline events, messages.
// Locks and counters per task are rows of their own, because a locked row is what makes two writers take turns in every dialect.

export const taskTables = `
create table results (
  task_uid text not null,
  attempt integer not null,
  size bigint not null,
  content_type text not null,
  created_at text not null,
  blob_id text references blobs (id),
  content bytea,
  primary key (task_uid, attempt)
);
create index results_by_blob on results (blob_id) where blob_id is not null;

create table artifacts (
  task_uid text not null,
  filename text not null,
  attempt integer not null,
  size bigint not null,
  content_type text not null,
  created_at text not null,
  blob_id text references blobs (id),
  content bytea,
  primary key (task_uid, filename)
);
create index artifacts_by_blob on artifacts (blob_id) where blob_id is not null;

create table artifact_locks (
  task_uid text primary key
) without rowid;

create table inputs (
  task_uid text not null,
  filename text not null,
  attempt integer not null,
  size bigint not null,
  content_type text not null,
  created_at text not null,
  blob_id text references blobs (id),
  content bytea,
  primary key (task_uid, filename)
);
create index inputs_by_blob on inputs (blob_id) where blob_id is not null;

create table input_locks (
  task_uid text primary key
) without rowid;

create table checkpoints (
  task_uid text primary key,
  attempt integer not null,
  encoding text not null,
  blob_id text references blobs (id),
  content bytea,
  generation integer not null default 0,
  changes integer not null default 0
);
create index checkpoints_by_blob on checkpoints (blob_id) where blob_id is not null;

create table checkpoint_changes (
  task_uid text not null,
  generation integer not null,
  number integer not null,
  change text not null,
  primary key (task_uid, generation, number)
) without rowid;

create table parkings (
  task_uid text not null primary key,
  attempt bigint not null,
  waits text not null
);

create table approvals (
  id text not null primary key,
  namespace text not null,
  task_uid text not null,
  task_name text not null,
  agent_name text,
  call text not null,
  tool text not null,
  arguments text not null,
  message text not null,
  status text not null,
  created_at text not null,
  expires_at text not null,
  answered_at text,
  answered_by text,
  reason text
);
create unique index approvals_by_call on approvals (task_uid, call);
create index approvals_by_status on approvals (status, created_at);

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

create table plan_versions (
  task_uid text not null,
  number integer not null,
  iteration integer not null,
  summary text not null,
  progress_pct integer not null,
  goal_complete integer not null,
  plan_document text not null,
  saved_at text not null,
  primary key (task_uid, number)
);

create table event_counters (
  task_uid text primary key,
  last_seq bigint not null
) without rowid;

create table events (
  task_uid text not null,
  seq bigint not null,
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
  id identity,
  namespace text not null,
  parent_task text not null,
  from_task text not null,
  to_task text not null,
  content text not null,
  created_at text not null,
  parent_uid text,
  from_uid text,
  to_uid text
);
create index messages_by_parent on messages (namespace, parent_task, id);
create index messages_by_sender on messages (namespace, from_task);
create index messages_by_receiver on messages (namespace, to_task);
create index messages_by_parent_uid on messages (parent_uid, id);
create index messages_by_sender_uid on messages (from_uid);
create index messages_by_receiver_uid on messages (to_uid);
create index messages_by_age on messages (created_at);

create table message_reads (
  message_id bigint not null references messages (id) on delete cascade,
  reader text not null,
  primary key (message_id, reader)
) without rowid;
create index message_reads_by_reader on message_reads (reader);
`
