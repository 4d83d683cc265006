// Memories by the session or task that they were written in, and no spaces that were learnt from them.

export const memoryOrigins = `
drop table memory_spaces;
delete from memory_vectors where model like 'space/%';
delete from memory_models where model like 'space/%';
alter table memory_models drop column memories;
create index memories_by_origin on memories (namespace, coalesce(session_name, task_name), number);
`
