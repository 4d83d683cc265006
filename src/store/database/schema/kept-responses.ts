// Answers of the responses API that are kept for a while.

export const keptResponseTables = `
create table kept_responses (
  id text primary key,
  namespace text not null,
  caller text not null,
  previous text,
  created_at text not null,
  bytes bigint not null,
  input text not null,
  response text not null
);
create index kept_responses_by_caller on kept_responses (namespace, caller, created_at, id, bytes);
create index kept_responses_by_age on kept_responses (created_at);
`
