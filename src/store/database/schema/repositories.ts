// What is known of repositories: scans and their findings, deliveries of the webhook, monitors, execution workspaces.

export const repositoryTables = `
create table scan_runs (
  scan_uid text not null,
  id text not null,
  is_active smallint,
  started_at text not null,
  body text not null,
  primary key (scan_uid, id),
  unique (scan_uid, is_active)
);
create index scan_runs_by_start on scan_runs (scan_uid, started_at, id);

create table scan_slices (
  scan_uid text not null,
  id text not null,
  status text not null,
  updated_at text not null,
  body text not null,
  primary key (scan_uid, id)
);
create index scan_slices_by_change on scan_slices (scan_uid, updated_at, id);
create index scan_slices_by_status on scan_slices (scan_uid, status, updated_at, id);

create table scan_reviews (
  scan_uid text not null,
  run text not null,
  slice text not null,
  accepted integer not null,
  added integer not null,
  dropped integer not null,
  primary key (scan_uid, run, slice)
);

create table scan_dropped (
  scan_uid text not null,
  id text not null,
  run text not null,
  slice text,
  layer text not null,
  reason text not null,
  folded_reason text not null,
  created_at text not null,
  body text not null,
  primary key (scan_uid, id)
);
create index scan_dropped_by_age on scan_dropped (scan_uid, created_at, id);
create index scan_dropped_by_run on scan_dropped (scan_uid, run, created_at, id);
create index scan_dropped_by_slice on scan_dropped (scan_uid, slice, created_at, id);
create index scan_dropped_by_reason on scan_dropped (scan_uid, reason, created_at, id);

create table scan_threat_models (
  scan_uid text primary key,
  body text not null
);

create table scan_imports (
  scan_uid text not null,
  id text not null,
  is_pending smallint,
  digest text not null,
  created_at text not null,
  content text,
  body text not null,
  primary key (scan_uid, id),
  unique (scan_uid, is_pending)
);
create index scan_imports_by_age on scan_imports (scan_uid, created_at, id);

create table findings (
  id text primary key,
  scan_uid text not null,
  namespace text not null,
  severity text not null,
  validation_status text not null,
  state text not null,
  slice text,
  file_path text,
  category text,
  rank text,
  dismissed_until text,
  updated_at text not null,
  body text not null
);
create index findings_by_change on findings (scan_uid, updated_at, id);
create index findings_by_slice on findings (scan_uid, slice, updated_at, id);
create index findings_by_file on findings (scan_uid, file_path);
create index findings_by_end on findings (scan_uid, dismissed_until) where dismissed_until is not null;
create index findings_by_rank on findings (scan_uid, rank, id) where rank > '';
create index findings_by_severity on findings (scan_uid, severity, updated_at, id);
create index findings_by_validation on findings (scan_uid, validation_status, updated_at, id, severity);
create index findings_by_state on findings (scan_uid, state, updated_at, id, validation_status, severity);
create index findings_by_category on findings (scan_uid, category, updated_at, id, state, validation_status, severity);
create index findings_by_severity_rank on findings (scan_uid, severity, rank, id);
create index findings_by_validation_rank on findings (scan_uid, validation_status, rank, id, severity);
create index findings_by_state_rank on findings (scan_uid, state, rank, id, validation_status, severity);
create index findings_by_category_rank on findings (scan_uid, category, rank, id, state, validation_status, severity);

create table patches (
  id text primary key,
  scan_uid text not null,
  finding text not null,
  status text not null,
  created_at text not null,
  body text not null
);
create index patches_by_finding on patches (finding, created_at, id);
create index patches_by_status on patches (scan_uid, status);

create table deliveries (
  id text not null primary key,
  namespace text not null,
  received_at text not null,
  event text not null,
  action text,
  repository text,
  number bigint,
  sender text,
  label text,
  happened_at text,
  state text not null,
  outcome text not null,
  facts text,
  attempts bigint not null,
  due_at text,
  worker text
);
create index deliveries_by_time on deliveries (received_at, id);
create index deliveries_by_target on deliveries (repository, number, happened_at);
create index deliveries_due on deliveries (due_at) where due_at is not null;

create table monitors (
  uid text not null primary key,
  writes bigint not null
) without rowid;

create table monitor_runs (
  monitor_uid text not null,
  id text not null,
  queued_at text not null,
  trigger_name text not null,
  target_kind text not null,
  exact text,
  phase text not null,
  body text not null,
  primary key (monitor_uid, id)
);
create index monitor_runs_by_age on monitor_runs (monitor_uid, queued_at, id);
create unique index monitor_runs_running on monitor_runs (monitor_uid) where phase = 'running';
create unique index monitor_runs_exact on monitor_runs (monitor_uid, exact) where phase = 'queued';

create table monitor_items (
  monitor_uid text not null,
  number bigint not null,
  kind text not null,
  state text not null,
  verdict text,
  repair_state text,
  automerge_state text,
  skip_reason text,
  under_way bigint not null,
  updated_at text not null,
  last_seen_at text not null,
  body text not null,
  primary key (monitor_uid, number)
);
create index monitor_items_by_change on monitor_items (monitor_uid, updated_at, number);

create table monitor_reviews (
  monitor_uid text not null,
  id text not null,
  number bigint not null,
  created_at text not null,
  body text not null,
  primary key (monitor_uid, id)
);
create index monitor_reviews_by_age on monitor_reviews (monitor_uid, created_at, id);

create table monitor_findings (
  monitor_uid text not null,
  number bigint not null,
  id text not null,
  shown_at text,
  dismissed_at text,
  body text not null,
  primary key (monitor_uid, number, id)
);

create table monitor_publishings (
  monitor_uid text not null,
  id text not null,
  number bigint not null,
  head_sha text not null,
  phase text not null,
  started_at text not null,
  body text not null,
  primary key (monitor_uid, id)
);
create index monitor_publishings_by_age on monitor_publishings (monitor_uid, number, started_at, id);
create unique index monitor_publishings_once on monitor_publishings (monitor_uid, number, head_sha)
  where phase in ('started', 'succeeded');

create table monitor_events (
  monitor_uid text not null,
  id text not null,
  run_id text,
  item_kind text,
  item_number bigint,
  event_type text not null,
  created_at text not null,
  body text not null,
  primary key (monitor_uid, id)
);
create index monitor_events_by_age on monitor_events (monitor_uid, created_at, id);

create table execution_workspaces (
  provider text not null,
  namespace text not null,
  name text not null,
  owner text not null,
  task_uid text,
  attempt bigint,
  task_name text,
  step text,
  facts text not null,
  created_at text not null,
  used_at text not null,
  primary key (provider, namespace, name)
) without rowid;
create index execution_workspaces_by_owner on execution_workspaces (owner);
create index execution_workspaces_by_holder on execution_workspaces (task_uid);

create table execution_workspace_owners (
  owner text not null primary key
);
`
