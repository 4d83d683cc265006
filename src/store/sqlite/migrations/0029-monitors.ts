// What monitors of repositories keep: runs, pull requests, reviews, findings, publishings and events.
import type { Migration } from '../../database/migrations.ts'

export const monitorsMigration: Migration = {
  number: 29,
  name: 'monitors',
  statements: `
create table monitors (
  uid text not null primary key,
  writes integer not null
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
  number integer not null,
  kind text not null,
  state text not null,
  verdict text,
  repair_state text,
  automerge_state text,
  skip_reason text,
  under_way integer not null,
  updated_at text not null,
  last_seen_at text not null,
  body text not null,
  primary key (monitor_uid, number)
);
create index monitor_items_by_change on monitor_items (monitor_uid, updated_at, number);

create table monitor_reviews (
  monitor_uid text not null,
  id text not null,
  number integer not null,
  created_at text not null,
  body text not null,
  primary key (monitor_uid, id)
);
create index monitor_reviews_by_age on monitor_reviews (monitor_uid, created_at, id);

create table monitor_findings (
  monitor_uid text not null,
  number integer not null,
  id text not null,
  shown_at text,
  dismissed_at text,
  body text not null,
  primary key (monitor_uid, number, id)
);

create table monitor_publishings (
  monitor_uid text not null,
  id text not null,
  number integer not null,
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
  item_number integer,
  event_type text not null,
  created_at text not null,
  body text not null,
  primary key (monitor_uid, id)
);
create index monitor_events_by_age on monitor_events (monitor_uid, created_at, id);
`,
}
