// What usage counts for besides what its own columns say: the monitor, the scan, and labels of the task (`label:KEY`).

export const usageAttributes = `
create table usage_attributes (
  usage_id text not null references usage_records (id) on delete cascade,
  name text not null,
  value text not null,
  primary key (usage_id, name)
) without rowid;
`
