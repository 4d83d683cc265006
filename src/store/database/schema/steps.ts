// Steps of the attempts of tasks: their structure, and apart from it what can be removed from old ones.

export const stepTables = `
create table step_counters (
  task_uid text primary key,
  last_seq bigint not null
) without rowid;

create table steps (
  task_uid text not null,
  attempt bigint not null,
  id text not null,
  seq bigint not null,
  kind text not null,
  step text not null,
  detail text,
  primary key (task_uid, attempt, id)
);
create unique index steps_by_seq on steps (task_uid, seq);
`
