// Repository scans: runs, slices, reviews, dropped findings, threat models, findings and patches.
import type { Migration } from '../../database/migrations.ts'

export const scansMigration: Migration = {
  number: 27,
  name: 'scans',
  statements: `
create table scan_runs (
  scan_uid text not null,
  id text not null,
  is_active integer,
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
create index findings_by_rank on findings (scan_uid, rank, id);
create index findings_by_severity on findings (scan_uid, severity, updated_at, id);
create index findings_by_validation on findings (scan_uid, validation_status, updated_at, id);
create index findings_by_state on findings (scan_uid, state, updated_at, id);
create index findings_by_slice on findings (scan_uid, slice, updated_at, id);
create index findings_by_category on findings (scan_uid, category, updated_at, id);
create index findings_by_file on findings (scan_uid, file_path);
create index findings_by_end on findings (scan_uid, dismissed_until) where dismissed_until is not null;

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
`,
}
