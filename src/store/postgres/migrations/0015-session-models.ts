// What answered the last turn of a chat: its next one goes on with it.
import type { Migration } from '../../database/migrations.ts'

export const sessionModelsMigration: Migration = {
  number: 15,
  name: 'session models',
  statements: `
alter table sessions add column provider_namespace text collate "C";
alter table sessions add column provider_name text collate "C";
alter table sessions add column model text collate "C";
`,
}
