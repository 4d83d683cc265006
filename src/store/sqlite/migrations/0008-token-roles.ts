// A token has a role; one that could only read is a viewer's.
import type { Migration } from '../../database/migrations.ts'

export const tokenRolesMigration: Migration = {
  number: 8,
  name: 'token roles',
  statements: `
alter table api_tokens add column role text not null default 'editor';
update api_tokens set role = 'viewer' where read_only = 1;
alter table api_tokens drop column read_only;
`,
}
