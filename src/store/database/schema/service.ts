// Records of the service itself: usage, budgets, idempotency keys, providers, tokens, audit, secrets, config maps.

/** What agents told their models. */
export const agentVersionTables = `
create table agent_versions (
  namespace text not null,
  name text not null,
  uid text not null,
  number bigint not null,
  generation bigint not null,
  digest text not null,
  since text not null,
  content text not null,
  primary key (namespace, name, uid, number)
);
`

export const serviceTables = `
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
  input_tokens bigint not null,
  output_tokens bigint not null,
  cached_tokens bigint not null,
  cost_nanos bigint,
  currency text,
  demo integer not null,
  created_at text not null,
  llm_calls integer not null default 1,
  caller_kind text,
  caller_id text,
  estimated_input bigint not null default 0,
  estimated_output bigint not null default 0,
  estimated_cost_nanos bigint,
  cache_write_tokens bigint not null default 0
) without rowid;
create index usage_by_age on usage_records (created_at);
create index usage_by_namespace_age on usage_records (namespace, created_at);
create index usage_by_task on usage_records (task_uid) where task_uid is not null;

create table usage_refused (
  id text primary key,
  record text not null,
  reason text not null,
  created_at text not null
);

create table budgets (
  name text primary key,
  spec text not null
) without rowid;

create table idempotency_keys (
  key text primary key,
  body_hash text not null,
  state text not null,
  outcome text,
  claimed_at bigint not null,
  expires_at bigint not null
) without rowid;
create index idempotency_keys_by_expiry on idempotency_keys (expires_at);

create table rate_limits (
  namespace text not null,
  name text not null,
  requests_level double precision,
  tokens_level double precision,
  refilled_at bigint not null,
  primary key (namespace, name)
) without rowid;

create table cool_downs (
  namespace text not null,
  name text not null,
  model text not null,
  until bigint not null,
  reason text not null,
  failure text not null,
  asked bigint not null,
  primary key (namespace, name, model)
) without rowid;

create table provider_health (
  namespace text not null,
  name text not null,
  good_at bigint,
  failed_at bigint,
  reason text,
  failures bigint not null,
  primary key (namespace, name)
) without rowid;

create table api_tokens (
  id text primary key,
  hash text not null unique,
  name text not null,
  namespace text,
  server_tools integer not null,
  created_at text not null,
  expires_at text,
  last_used_at text,
  role text not null default 'editor',
  caller_id text,
  caller_name text
) without rowid;
create index api_tokens_by_caller on api_tokens (caller_id) where caller_id is not null;

create table sign_in_links (
  hash text primary key,
  caller_id text not null,
  caller_name text not null,
  name text not null,
  namespace text,
  role text not null,
  server_tools smallint not null,
  token_expires_at text not null,
  expires_at text not null
);
create index sign_in_links_by_caller on sign_in_links (caller_id);

create table audit_records (
  id text primary key,
  created_at text not null,
  caller text,
  auth_type text,
  via text not null,
  verb text not null,
  kind text,
  namespace text,
  name text,
  route text,
  address text,
  allowed integer not null,
  status integer,
  request_id text,
  caller_id text,
  session text,
  task_uid text
);
create index audit_by_age on audit_records (created_at, id);
create index audit_by_namespace on audit_records (namespace, created_at, id) where namespace is not null;
create index audit_by_caller on audit_records (caller, created_at, id) where caller is not null;
create index audit_by_caller_id on audit_records (caller_id, created_at, id) where caller_id is not null;

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
  sealed bytea not null,
  primary key (namespace, name, key)
) without rowid;

create table config_maps (
  namespace text not null,
  name text not null,
  body text not null,
  version bigint not null,
  created_at text not null,
  primary key (namespace, name)
) without rowid;
`
