// Tokens that no vendor counted, beside the exact counts; and records that could not be taken, as JSON with the reason.
import type { Migration } from '../../database/migrations.ts'

export const usageEstimatesMigration: Migration = {
  number: 14,
  name: 'usage estimates',
  statements: `
alter table usage_records add column estimated_input bigint not null default 0;
alter table usage_records add column estimated_output bigint not null default 0;
alter table usage_records add column estimated_cost_nanos bigint;
create table usage_refused (
  id text collate "C" primary key,
  record text collate "C" not null,
  reason text collate "C" not null,
  created_at text collate "C" not null
);
`,
}
