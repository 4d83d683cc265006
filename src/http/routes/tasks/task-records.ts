// What a task leaves behind: result, artifacts, plan.
import { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { getTaskNetwork } from '../../../contract/api/tasks/network.ts'
import type {
  PlanRecord,
  PlanVersion as PlanVersionItem,
  TaskMessage,
} from '../../../contract/api/tasks/task-records.ts'
import * as routes from '../../../contract/api/tasks/tasks.ts'
import type { ArtifactInfo, Plan, StoredPlan } from '../../../ports/tasks/outputs.ts'
import type { Bind } from '../../bind.ts'
import type { RouteContext } from '../../deps.ts'
import { tagOfText } from '../../middleware/conditional.ts'
import { type Numbered, readNumbered, wrapPage } from '../../paging.ts'
import { readUpload } from '../../upload.ts'

/** The plan as the specification shows it, for people and for workers (PLAN-001). */
export function presentPlan(plan: Plan): PlanRecord {
  return {
    TaskName: plan.taskName,
    Namespace: plan.namespace,
    Iteration: plan.iteration,
    Summary: plan.summary,
    ProgressPct: plan.progressPct,
    GoalComplete: plan.goalComplete,
    PlanDocument: plan.planDocument,
    CreatedAt: plan.createdAt,
    UpdatedAt: plan.updatedAt,
  }
}

function quote(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/** `{"<name>":"<text>"}` out of a stream of bytes, never whole in memory (TASK-061). */
async function* writeTextObject(name: string, open: () => AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8')
  yield `{"${name}":"`
  for await (const chunk of open()) yield quote(decoder.write(chunk))
  yield `${quote(decoder.end())}"}`
}

/** The bytes as stored. The first read opens the file, so an answer without a body opens none. */
async function* readBytes(open: () => AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield* open()
}

function streamOf(chunks: AsyncIterable<Buffer | string>): Readable {
  return Readable.from(chunks, { objectMode: false })
}

/** A header value that no file name can break; the exact name follows in the form of RFC 6266. */
function describeAttachment(filename: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not reach a header
  const plain = filename.replace(/["\\\u0000-\u001f\u007f]/g, '_').replace(/[^\x20-\x7e]/g, '_')
  const exact = encodeURIComponent(filename.toWellFormed()).replace(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16)}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`
}

function cleanContentType(contentType: string): string {
  return /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(\s*;[\x20-\x7e]*)?$/.test(contentType)
    ? contentType
    : 'application/octet-stream'
}

function presentArtifact({ filename, contentType, size, createdAt }: ArtifactInfo) {
  return { filename, contentType, size, createdAt }
}

function wantsBytes(accept: string | undefined): boolean {
  return accept?.includes('application/octet-stream') ?? false
}

function bindArtifacts(bind: Bind, { usecases }: RouteContext): void {
  bind(routes.listTaskArtifacts, async ({ caller, key }) => {
    const artifacts = await usecases.tasks.artifacts(caller, key)
    return { json: { items: artifacts.map(presentArtifact), metadata: {} } }
  })
  bind(routes.listTaskInputs, async ({ caller, key }) => {
    const inputs = await usecases.tasks.inputs(caller, key)
    return { json: { items: inputs.map(presentArtifact), metadata: {} } }
  })
  bind(routes.getTaskArtifact, async ({ caller, key, params }) => {
    const { info, open } = await usecases.tasks.artifact(caller, key, params.filename)
    return {
      stream: streamOf(readBytes(open)),
      contentType: cleanContentType(info.contentType),
      tag: tagOfText(JSON.stringify([info.taskUid, info.attempt, info.createdAt, info.size])),
      headers: { 'content-length': String(info.size), 'content-disposition': describeAttachment(info.filename) },
    }
  })
}

/** The route's body is streamed. */
export function bindTaskInputs(bind: Bind, { usecases }: Pick<RouteContext, 'usecases'>): void {
  bind(routes.putTaskInput, async ({ caller, key, params, request }) => {
    const { body, contentType } = readUpload(request, routes.putTaskInput.bodyLimit)
    await usecases.tasks.putInput(caller, key, { filename: params.filename, contentType, body })
    return { empty: true }
  })
}

function presentVersion(plan: StoredPlan): PlanVersionItem {
  return {
    Number: plan.number,
    Iteration: plan.iteration,
    Summary: plan.summary,
    ProgressPct: plan.progressPct,
    GoalComplete: plan.goalComplete,
    PlanDocument: plan.planDocument,
    SavedAt: plan.savedAt,
  }
}

const byNumber: Numbered<StoredPlan> = { cursor: 'plan', numberOf: ({ number }) => number }
const byId: Numbered<TaskMessage> = { cursor: 'message', numberOf: ({ id }) => id }

const presentMessage = ({ id, fromTask, toTask, content, createdAt }: TaskMessage): TaskMessage => ({
  id,
  fromTask,
  toTask,
  content,
  createdAt,
})

function bindHistory(bind: Bind, { usecases }: RouteContext): void {
  bind(routes.listTaskPlans, async ({ caller, key, query }) => {
    const page = await readNumbered(byNumber, query, (range) => usecases.tasks.plans(caller, key, range))
    return { json: wrapPage(page, presentVersion) }
  })
  bind(routes.listTaskMessages, async ({ caller, key, query }) => {
    const page = await readNumbered(byId, query, (range) => usecases.tasks.messages(caller, key, range))
    return { json: wrapPage(page, presentMessage) }
  })
}

export function bindTaskRecords(bind: Bind, context: RouteContext): void {
  const { usecases } = context
  bindArtifacts(bind, context)
  bind(routes.getTaskResult, async ({ caller, key, request }) => {
    const { info, open } = await usecases.tasks.result(caller, key)
    const isRaw = wantsBytes(request.headers.accept)
    const tag = tagOfText(JSON.stringify([info.taskUid, info.attempt, info.createdAt, info.size, isRaw]))
    const headers = { vary: 'Accept' }
    if (!isRaw) {
      const stream = streamOf(writeTextObject('result', open))
      return { stream, contentType: 'application/json; charset=utf-8', tag, headers }
    }
    const length = { 'content-length': String(info.size) }
    return {
      stream: streamOf(readBytes(open)),
      contentType: 'application/octet-stream',
      tag,
      headers: { ...headers, ...length },
    }
  })
  bind.json(routes.getTaskPlan, async ({ caller, key }) => presentPlan(await usecases.tasks.plan(caller, key)))
  bind.json(getTaskNetwork, ({ caller, key }) => usecases.tasks.network(caller, key))
  bindHistory(bind, context)
}
