// When each resource was created, beside its JSON: lists can be had in that order.
import type { Migration } from '../../database/migrations.ts'

export const creationOrderMigration: Migration = {
  number: 19,
  name: 'creation-order',
  statements: `
alter table resources add column created text not null default '';
update resources set created =
  json_extract(object, '$.metadata.creationTimestamp') || ' ' || json_extract(object, '$.metadata.uid');
create index resources_by_creation on resources (kind, created);
create index resources_by_namespace_and_creation on resources (kind, namespace, created);
`,
}
