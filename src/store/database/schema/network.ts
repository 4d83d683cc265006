// What the programs of attempts reached and were refused, host by host, and how far the answer to an approval goes.

export const networkTables = `
create table network_hosts (
  task_uid text not null,
  attempt bigint not null,
  host text not null,
  port integer not null,
  connections bigint not null,
  refused bigint not null,
  unlisted bigint not null,
  sent bigint not null,
  received bigint not null,
  first_at text not null,
  last_at text not null,
  reason text,
  primary key (task_uid, attempt, host, port)
);

alter table approvals add column scope text;
`
