// What monitors of repositories keep: runs, pull requests, reviews, findings, publishings and events.
import type { Migration } from '../../database/migrations.ts'

export const monitorsMigration: Migration = {
  number: 29,
  name: 'monitors',
  statements: `
create table monitors (
  uid text collate "C" not null primary key,
  writes bigint not null
);

create table monitor_runs (
  monitor_uid text collate "C" not null,
  id text collate "C" not null,
  queued_at text collate "C" not null,
  trigger_name text collate "C" not null,
  target_kind text collate "C" not null,
  exact text collate "C",
  phase text collate "C" not null,
  body text collate "C" not null,
  primary key (monitor_uid, id)
);
create index monitor_runs_by_age on monitor_runs (monitor_uid, queued_at, id);
create unique index monitor_runs_running on monitor_runs (monitor_uid) where phase = 'running';
create unique index monitor_runs_exact on monitor_runs (monitor_uid, exact) where phase = 'queued';

create table monitor_items (
  monitor_uid text collate "C" not null,
  number bigint not null,
  kind text collate "C" not null,
  state text collate "C" not null,
  verdict text collate "C",
  repair_state text collate "C",
  automerge_state text collate "C",
  skip_reason text collate "C",
  under_way bigint not null,
  updated_at text collate "C" not null,
  last_seen_at text collate "C" not null,
  body text collate "C" not null,
  primary key (monitor_uid, number)
);
create index monitor_items_by_change on monitor_items (monitor_uid, updated_at, number);

create table monitor_reviews (
  monitor_uid text collate "C" not null,
  id text collate "C" not null,
  number bigint not null,
  created_at text collate "C" not null,
  body text collate "C" not null,
  primary key (monitor_uid, id)
);
create index monitor_reviews_by_age on monitor_reviews (monitor_uid, created_at, id);

create table monitor_findings (
  monitor_uid text collate "C" not null,
  number bigint not null,
  id text collate "C" not null,
  shown_at text collate "C",
  dismissed_at text collate "C",
  body text collate "C" not null,
  primary key (monitor_uid, number, id)
);

create table monitor_publishings (
  monitor_uid text collate "C" not null,
  id text collate "C" not null,
  number bigint not null,
  head_sha text collate "C" not null,
  phase text collate "C" not null,
  started_at text collate "C" not null,
  body text collate "C" not null,
  primary key (monitor_uid, id)
);
create index monitor_publishings_by_age on monitor_publishings (monitor_uid, number, started_at, id);
create unique index monitor_publishings_once on monitor_publishings (monitor_uid, number, head_sha)
  where phase in ('started', 'succeeded');

create table monitor_events (
  monitor_uid text collate "C" not null,
  id text collate "C" not null,
  run_id text collate "C",
  item_kind text collate "C",
  item_number bigint,
  event_type text collate "C" not null,
  created_at text collate "C" not null,
  body text collate "C" not null,
  primary key (monitor_uid, id)
);
create index monitor_events_by_age on monitor_events (monitor_uid, created_at, id);
`,
}
