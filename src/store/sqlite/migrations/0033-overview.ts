// What the overview counts: moments of tasks in the index (`readTallies` in rules/resource-fields.ts), and proposals by status.
import type { Migration } from '../../database/migrations.ts'

/** The part for records, which is the same in PostgreSQL. */
export const recordStatements = `
create index memory_proposals_by_status on memory_proposals (status, namespace);
`

export const overviewMigration: Migration = {
  number: 33,
  name: 'overview',
  statements: `
insert into resource_index (kind, field, value, namespace, name)
  select kind, 'waitingSince', json_extract(object, '$.metadata.creationTimestamp'), namespace, name from resources
  where kind = 'Task' and coalesce(json_extract(object, '$.status.phase'), 'Pending') = 'Pending';
insert into resource_index (kind, field, value, namespace, name)
  select kind, 'runningAgent', coalesce(json_extract(object, '$.spec.agentRef.name'), ''), namespace, name from resources
  where kind = 'Task' and json_extract(object, '$.status.phase') = 'Running';
insert into resource_index (kind, field, value, namespace, name)
  select kind, 'ended', substr(json_extract(object, '$.status.completionTime'), 1, 13) || ' ' ||
    json_extract(object, '$.status.phase') || ' ', namespace, name from resources
  where kind = 'Task' and json_extract(object, '$.status.phase') in ('Succeeded', 'Failed', 'Cancelled')
    and json_extract(object, '$.status.completionTime') is not null;
${recordStatements}`,
}
