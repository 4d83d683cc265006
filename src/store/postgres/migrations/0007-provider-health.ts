// How the calls of each provider went of late.
import type { Migration } from '../../database/migrations.ts'

export const providerHealthMigration: Migration = {
  number: 7,
  name: 'provider health',
  statements: `
create table provider_health (
  namespace text collate "C" not null,
  name text collate "C" not null,
  good_at bigint,
  failed_at bigint,
  reason text collate "C",
  failures bigint not null,
  primary key (namespace, name)
);
`,
}
