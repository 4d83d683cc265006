// The part of Agent Substrate's control protocol that is used: package `ateapi`, with the numbers of its fields.
// https://github.com/agent-substrate/substrate, pkg/proto/ateapipb, as of 2026-06-30. Fields that nobody here reads are
// left out: a reader of protocol buffers skips them.

type Field = { type: string; id: number; rule?: 'repeated' }

/** A message without fields is written as `{}`. */
function message(fields: Record<string, Field> = {}) {
  return { fields }
}

const text = (id: number): Field => ({ type: 'string', id })
const one = (type: string, id: number): Field => ({ type, id })
const many = (type: string, id: number): Field => ({ type, id, rule: 'repeated' })

const call = (name: string) => ({ requestType: `${name}Request`, responseType: `${name}Response` })

const addressed = message({ actor_ref: one('ActorRef', 1) })
const answered = message({ actor: one('Actor', 1) })

const statuses = {
  STATUS_UNSPECIFIED: 0,
  STATUS_RESUMING: 1,
  STATUS_RUNNING: 2,
  STATUS_SUSPENDING: 3,
  STATUS_SUSPENDED: 4,
  STATUS_PAUSING: 5,
  STATUS_PAUSED: 6,
} as const
export type ActorStatus = keyof typeof statuses

const messages = {
  ActorRef: message({ atespace: text(1), name: text(2) }),
  Selector: { fields: { match_labels: { keyType: 'string', type: 'string', id: 1 } } },
  SnapshotInfo: message({ type: one('int32', 1) }),
  ActorStatus: { values: statuses },
  Actor: message({
    actor_id: text(1),
    version: one('int64', 2),
    actor_template_namespace: text(3),
    actor_template_name: text(4),
    status: one('ActorStatus', 5),
    latest_snapshot_info: one('SnapshotInfo', 12),
    worker_pool_name: text(14),
    atespace: text(15),
  }),
  Worker: message({
    worker_namespace: text(1),
    worker_pool: text(2),
    actor_id: text(6),
    node_name: text(10),
    actor_atespace: text(11),
  }),
  GetActorRequest: addressed,
  GetActorResponse: answered,
  CreateActorRequest: message({
    actor_ref: one('ActorRef', 1),
    actor_template_namespace: text(2),
    actor_template_name: text(3),
    worker_selector: one('Selector', 4),
  }),
  CreateActorResponse: answered,
  SuspendActorRequest: addressed,
  SuspendActorResponse: answered,
  ResumeActorRequest: message({ actor_ref: one('ActorRef', 1), boot: one('bool', 2) }),
  ResumeActorResponse: answered,
  DeleteActorRequest: addressed,
  DeleteActorResponse: message(),
  ListWorkersRequest: message(),
  ListWorkersResponse: message({ workers: many('Worker', 1) }),
  ListActorsRequest: message({ page_size: one('int32', 1), page_token: text(2), atespace: text(3) }),
  ListActorsResponse: message({ actors: many('Actor', 1), next_page_token: text(2) }),
  CreateAtespaceRequest: message({ name: text(1) }),
  CreateAtespaceResponse: message(),
  MintJWTRequest: message({ audience: many('string', 1), app_id: text(2), user_id: text(3), session_id: text(4) }),
  MintJWTResponse: message({ session_jwt: text(1) }),
}

const controlCalls = [
  'GetActor',
  'CreateActor',
  'SuspendActor',
  'ResumeActor',
  'DeleteActor',
  'ListWorkers',
  'ListActors',
  'CreateAtespace',
] as const
export type ControlCall = (typeof controlCalls)[number]

/** In the JSON form that protobuf.js reads. */
export const actorProtocol = {
  nested: {
    ateapi: {
      nested: {
        ...messages,
        Control: { methods: Object.fromEntries(controlCalls.map((name) => [name, call(name)])) },
        SessionIdentity: { methods: { MintJWT: call('MintJWT') } },
      },
    },
  },
}
