// Links that sign in once, and the caller whom the token of such a link acts as.
import type { Migration } from '../../database/migrations.ts'

export const signInLinksMigration: Migration = {
  number: 34,
  name: 'sign-in-links',
  statements: `
alter table api_tokens add column caller_id text collate "C";
alter table api_tokens add column caller_name text collate "C";
create index api_tokens_by_caller on api_tokens (caller_id) where caller_id is not null;
create table sign_in_links (
  hash text collate "C" primary key,
  caller_id text collate "C" not null,
  caller_name text collate "C" not null,
  name text collate "C" not null,
  namespace text collate "C",
  role text collate "C" not null,
  server_tools smallint not null,
  token_expires_at text collate "C" not null,
  expires_at text collate "C" not null
);
create index sign_in_links_by_caller on sign_in_links (caller_id);
`,
}
