// Pauses of providers and of their models: what vendors limit by itself rests by itself.
import type { Migration } from '../../database/migrations.ts'

export const coolDownsMigration: Migration = {
  number: 12,
  name: 'cool-downs',
  statements: `
create table cool_downs (
  namespace text collate "C" not null,
  name text collate "C" not null,
  model text collate "C" not null,
  until bigint not null,
  reason text collate "C" not null,
  failure text collate "C" not null,
  asked bigint not null,
  primary key (namespace, name, model)
);
alter table rate_limits drop column cool_until;
alter table rate_limits drop column cool_reason;
`,
}
