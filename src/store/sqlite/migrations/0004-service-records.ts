// Records of the service itself: usage, idempotency keys, rate limits, tokens, secrets.
import type { Migration } from '../../database/migrations.ts'

export const serviceRecordsMigration: Migration = {
  number: 4,
  name: 'service records',
  statements: `
create table usage_records (
  id text primary key,
  namespace text not null,
  provider text not null,
  model text not null,
  task_uid text,
  task_name text,
  session text,
  agent text,
  caller text,
  input_tokens integer not null,
  output_tokens integer not null,
  cached_tokens integer not null,
  cost_nanos integer,
  currency text,
  demo integer not null,
  created_at text not null
) without rowid;
create index usage_by_age on usage_records (created_at);
create index usage_by_namespace_age on usage_records (namespace, created_at);
create index usage_by_task on usage_records (task_uid) where task_uid is not null;
create table idempotency_keys (
  key text primary key,
  body_hash text not null,
  state text not null,
  outcome text,
  claimed_at integer not null,
  expires_at integer not null
) without rowid;
create index idempotency_keys_by_expiry on idempotency_keys (expires_at);
create table rate_limits (
  namespace text not null,
  name text not null,
  requests_level real,
  tokens_level real,
  refilled_at integer not null,
  cool_until integer,
  cool_reason text,
  primary key (namespace, name)
) without rowid;
create table api_tokens (
  id text primary key,
  hash text not null unique,
  name text not null,
  namespace text,
  read_only integer not null,
  server_tools integer not null,
  created_at text not null,
  expires_at text,
  last_used_at text
) without rowid;
create table secrets (
  namespace text not null,
  name text not null,
  type text not null,
  annotations text not null,
  created_at text not null,
  primary key (namespace, name)
) without rowid;
create table secret_entries (
  namespace text not null,
  name text not null,
  key text not null,
  sealed blob not null,
  primary key (namespace, name, key)
) without rowid;
`,
}
