// Answers of the responses API that are kept for a while.

export const storedResponseTables = `
create table stored_responses (
  id text primary key,
  namespace text not null,
  caller text not null,
  previous text,
  created_at text not null,
  bytes bigint not null,
  input text not null,
  response text not null
);
create index stored_responses_by_caller on stored_responses (namespace, caller, created_at, id, bytes);
create index stored_responses_by_age on stored_responses (created_at);
`

/** Whom a response is of, for tokens that are for some providers and models. */
export const storedResponseMakers = `
alter table stored_responses add column provider text;
alter table stored_responses add column model text;
`
