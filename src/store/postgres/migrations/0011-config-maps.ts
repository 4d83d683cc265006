// Config maps of embedded mode, and until when a session is kept that an agent bounds.
import type { Migration } from '../../database/migrations.ts'

export const configMapsMigration: Migration = {
  number: 11,
  name: 'config maps',
  statements: `
create table config_maps (
  namespace text collate "C" not null,
  name text collate "C" not null,
  body text collate "C" not null,
  version bigint not null,
  created_at text collate "C" not null,
  primary key (namespace, name)
);
alter table sessions add column expires_at text collate "C";
`,
}
