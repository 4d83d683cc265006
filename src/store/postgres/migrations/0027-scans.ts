// Repository scans: runs, slices, reviews, dropped findings, threat models, findings and patches.
import type { Migration } from '../../database/migrations.ts'

export const scansMigration: Migration = {
  number: 27,
  name: 'scans',
  statements: `
create table scan_runs (
  scan_uid text collate "C" not null,
  id text collate "C" not null,
  is_active smallint,
  started_at text collate "C" not null,
  body text collate "C" not null,
  primary key (scan_uid, id),
  unique (scan_uid, is_active)
);
create index scan_runs_by_start on scan_runs (scan_uid, started_at, id);

create table scan_slices (
  scan_uid text collate "C" not null,
  id text collate "C" not null,
  status text collate "C" not null,
  updated_at text collate "C" not null,
  body text collate "C" not null,
  primary key (scan_uid, id)
);
create index scan_slices_by_change on scan_slices (scan_uid, updated_at, id);
create index scan_slices_by_status on scan_slices (scan_uid, status, updated_at, id);

create table scan_reviews (
  scan_uid text collate "C" not null,
  run text collate "C" not null,
  slice text collate "C" not null,
  accepted integer not null,
  added integer not null,
  dropped integer not null,
  primary key (scan_uid, run, slice)
);

create table scan_dropped (
  scan_uid text collate "C" not null,
  id text collate "C" not null,
  run text collate "C" not null,
  slice text collate "C",
  layer text collate "C" not null,
  reason text collate "C" not null,
  folded_reason text collate "C" not null,
  created_at text collate "C" not null,
  body text collate "C" not null,
  primary key (scan_uid, id)
);
create index scan_dropped_by_age on scan_dropped (scan_uid, created_at, id);
create index scan_dropped_by_run on scan_dropped (scan_uid, run, created_at, id);
create index scan_dropped_by_slice on scan_dropped (scan_uid, slice, created_at, id);
create index scan_dropped_by_reason on scan_dropped (scan_uid, reason, created_at, id);

create table scan_threat_models (
  scan_uid text collate "C" primary key,
  body text collate "C" not null
);

create table findings (
  id text collate "C" primary key,
  scan_uid text collate "C" not null,
  namespace text collate "C" not null,
  severity text collate "C" not null,
  validation_status text collate "C" not null,
  state text collate "C" not null,
  slice text collate "C",
  file_path text collate "C",
  category text collate "C",
  rank text collate "C",
  dismissed_until text collate "C",
  updated_at text collate "C" not null,
  body text collate "C" not null
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
  id text collate "C" primary key,
  scan_uid text collate "C" not null,
  finding text collate "C" not null,
  status text collate "C" not null,
  created_at text collate "C" not null,
  body text collate "C" not null
);
create index patches_by_finding on patches (finding, created_at, id);
create index patches_by_status on patches (scan_uid, status);
`,
}
