// Records of the service itself: usage, idempotency keys, rate limits, tokens, secrets.
import type { Migration } from '../../database/migrations.ts'

export const serviceRecordsMigration: Migration = {
  number: 4,
  name: 'service records',
  statements: `
create table usage_records (
  id text collate "C" primary key,
  namespace text collate "C" not null,
  provider text collate "C" not null,
  model text collate "C" not null,
  task_uid text collate "C",
  task_name text collate "C",
  session text collate "C",
  agent text collate "C",
  caller text collate "C",
  input_tokens bigint not null,
  output_tokens bigint not null,
  cached_tokens bigint not null,
  cost_nanos bigint,
  currency text collate "C",
  demo integer not null,
  created_at text collate "C" not null
);
create index usage_by_age on usage_records (created_at);
create index usage_by_namespace_age on usage_records (namespace, created_at);
create index usage_by_task on usage_records (task_uid) where task_uid is not null;
create table idempotency_keys (
  key text collate "C" primary key,
  body_hash text collate "C" not null,
  state text collate "C" not null,
  outcome text collate "C",
  claimed_at bigint not null,
  expires_at bigint not null
);
create index idempotency_keys_by_expiry on idempotency_keys (expires_at);
create table rate_limits (
  namespace text collate "C" not null,
  name text collate "C" not null,
  requests_level double precision,
  tokens_level double precision,
  refilled_at bigint not null,
  cool_until bigint,
  cool_reason text collate "C",
  primary key (namespace, name)
);
create table api_tokens (
  id text collate "C" primary key,
  hash text collate "C" not null unique,
  name text collate "C" not null,
  namespace text collate "C",
  read_only integer not null,
  server_tools integer not null,
  created_at text collate "C" not null,
  expires_at text collate "C",
  last_used_at text collate "C"
);
create table secrets (
  namespace text collate "C" not null,
  name text collate "C" not null,
  type text collate "C" not null,
  annotations text collate "C" not null,
  created_at text collate "C" not null,
  primary key (namespace, name)
);
create table secret_entries (
  namespace text collate "C" not null,
  name text collate "C" not null,
  key text collate "C" not null,
  sealed bytea not null,
  primary key (namespace, name, key)
);
`,
}
