// Tokens that no vendor counted, beside the exact counts; and records that could not be taken, as JSON with the reason.
import type { Migration } from '../../database/migrations.ts'

export const usageEstimatesMigration: Migration = {
  number: 14,
  name: 'usage estimates',
  statements: `
alter table usage_records add column estimated_input integer not null default 0;
alter table usage_records add column estimated_output integer not null default 0;
alter table usage_records add column estimated_cost_nanos integer;
create table usage_refused (
  id text primary key,
  record text not null,
  reason text not null,
  created_at text not null
);
`,
}
