// Lists of findings in each order by each filter: a list goes through the index of one filter (`matchFilter` in findings.ts),
// which also holds the columns that the others ask for, so that only rows of the page are read.
import type { Migration } from '../../database/migrations.ts'

export const findingListsMigration: Migration = {
  number: 32,
  name: 'finding-lists',
  statements: `
drop index findings_by_rank;
drop index findings_by_severity;
drop index findings_by_validation;
drop index findings_by_state;
drop index findings_by_category;
create index findings_by_rank on findings (scan_uid, rank, id) where rank > '';
create index findings_by_severity on findings (scan_uid, severity, updated_at, id);
create index findings_by_validation on findings (scan_uid, validation_status, updated_at, id, severity);
create index findings_by_state on findings (scan_uid, state, updated_at, id, validation_status, severity);
create index findings_by_category on findings (scan_uid, category, updated_at, id, state, validation_status, severity);
create index findings_by_severity_rank on findings (scan_uid, severity, rank, id);
create index findings_by_validation_rank on findings (scan_uid, validation_status, rank, id, severity);
create index findings_by_state_rank on findings (scan_uid, state, rank, id, validation_status, severity);
create index findings_by_category_rank on findings (scan_uid, category, rank, id, state, validation_status, severity);
`,
}
