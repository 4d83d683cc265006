// Goes on from answers that were stored: `previous_response_id` and `item_reference` of the responses API.
import { messageOf, SvcError } from '../../errors.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import { answerOfItem } from '../../llm/responses/item-stream.ts'
import type { ResponseOwner, StoredResponse, StoredResponses } from '../../ports/chat/stored-responses.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { Ports } from '../../ports/index.ts'
import { requireAccess, requireRight } from '../../usecases/identity/access.ts'
import { requireModel } from '../../usecases/providers/models.ts'
import { accountOf, requireGranted } from '../request.ts'
import type { Asker, ProxyCall } from '../types.ts'
import type { ProxyLoopDeps } from './model.ts'

export type ResumedCall = {
  /** The request with all items that it refers to. */
  body: JsonObject
  /**
   * Keeps the answer for requests that go on from it, unless the caller does not want that. The answer as it is sent: with
   * `store: false` when it could not be kept.
   */
  keep(answer: JsonObject): Promise<JsonObject>
}

/** No owner has more. */
const maxAnswers = 1024

const keepNothing = async (answer: JsonObject) => answer

/** In the vendor's words, at which clients send the items themselves. */
function refuseItem(id: unknown): never {
  const message = `Item with id '${String(id).slice(0, 100)}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`
  throw new SvcError('NotFound', message, { details: [{ path: 'input', message }] })
}

function refuseResponse(id: unknown): never {
  const message = `Previous response with id '${String(id).slice(0, 100)}' not found.`
  throw new SvcError('NotFound', message, { details: [{ path: 'previous_response_id', message }] })
}

function isReference({ type, role, id }: JsonObject): boolean {
  return type === 'item_reference' || (type === undefined && role === undefined && typeof id === 'string')
}

/** What is sealed in an item of reasoning stays here when its client does not ask for it. */
function isBare({ type, encrypted_content: sealed }: JsonObject): boolean {
  return type === 'reasoning' && !sealed
}

type Reader = { ports: Pick<Ports, 'records' | 'authorizer'>; caller: Caller; owner: ResponseOwner }

/** Forbidden for a response of a provider or a model that the caller's token is not for. */
async function requireReadable({ ports, caller, owner }: Reader, found: readonly StoredResponse[]): Promise<void> {
  for (const { provider = '', model } of found) {
    await requireModel(ports, caller, {
      namespace: owner.namespace,
      name: provider,
      ...(model !== undefined && { model }),
    })
    requireGranted(caller, model)
  }
}

async function findReadable(reader: Reader, ids: readonly string[]): Promise<StoredResponse[]> {
  const found = await reader.ports.records.storedResponses.find(reader.owner, ids)
  await requireReadable(reader, found)
  return found
}

async function findItems(reader: Reader, items: JsonObject[]): Promise<Map<unknown, JsonObject>> {
  const named = items.filter((item) => isReference(item) || isBare(item))
  const ids = new Set(named.flatMap(({ id }) => answerOfItem(id) ?? []))
  const found = ids.size === 0 ? [] : await findReadable(reader, [...ids].slice(0, maxAnswers))
  return new Map(found.flatMap(({ response }) => response.output.map((item) => [item.id, item] as const)))
}

async function resolveItems(reader: Reader, items: JsonObject[]): Promise<JsonObject[]> {
  const found = await findItems(reader, items)
  return items.map((item) => {
    if (isReference(item)) return found.get(item.id) ?? refuseItem(item.id)
    return isBare(item) ? (found.get(item.id) ?? item) : item
  })
}

function listItems(input: unknown): JsonObject[] {
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }]
  return Array.isArray(input) ? input.filter(isJsonObject) : []
}

async function findThread(reader: Reader, id: unknown): Promise<StoredResponse[]> {
  if (id === null || id === undefined) return []
  const { storedResponses } = reader.ports.records
  const thread = (await storedResponses.thread(reader.owner, String(id))) ?? refuseResponse(id)
  await requireReadable(reader, thread)
  return thread
}

/** NotFound for what is not stored, or not this caller's. A request of any other language stays as it is. */
export async function resumeCall({ ports, settings }: ProxyLoopDeps, call: ProxyCall): Promise<ResumedCall> {
  const { body, endpoint, namespace, caller } = call
  if (endpoint !== 'responses') return { body, keep: keepNothing }
  const { storedResponses } = ports.records
  const owner = { namespace, caller: accountOf(caller) }
  const reader: Reader = { ports, caller, owner }
  const thread = await findThread(reader, body.previous_response_id)
  const input = await resolveItems(reader, listItems(body.input))
  const [{ provider, model }] = call.models
  const earlier = thread.flatMap((each) => [...each.input, ...each.response.output])
  const isWhole = Array.isArray(body.input) || typeof body.input === 'string'
  return {
    body: isWhole ? { ...body, input: [...earlier, ...input] } : body,
    keep: body.store === false ? keepNothing : keepOrTell,
  }

  async function keepOrTell(answer: JsonObject): Promise<JsonObject> {
    try {
      if (await keepAnswer(storedResponses, owner, { input, thread, answer, provider: provider.name, model }))
        return answer
      settings.onUnstored?.({ namespace, id: String(answer.id), reason: 'it is too large' })
    } catch (error) {
      settings.onUnstored?.({ namespace, id: String(answer.id), reason: messageOf(error) })
    }
    // The answer is paid for: it is not lost for that.
    return { ...answer, store: false }
  }
}

export type StoredAnswers = {
  /** Forbidden, NotFound. */
  get(id: string, who: Asker): Promise<JsonObject>
  remove(id: string, who: Asker): Promise<JsonObject>
}

function refuseId(id: string): never {
  const message = `Response with id '${id.slice(0, 100)}' not found.`
  throw new SvcError('NotFound', message, { details: [{ path: 'response_id', message }] })
}

/** Nobody but who asked for it finds a response. */
export function createStoredAnswers(ports: Pick<Ports, 'records' | 'authorizer'>): StoredAnswers {
  const { storedResponses } = ports.records
  async function find(
    id: string,
    { caller, namespace }: Asker,
  ): Promise<{ owner: ResponseOwner; found: StoredResponse }> {
    const anyProvider = { verb: 'use', kind: 'Provider', namespace } as const
    requireRight(caller, anyProvider)
    const owner = { namespace, caller: accountOf(caller) }
    const [found] = await findReadable({ ports, caller, owner }, [id])
    if (found !== undefined) return { owner, found }
    await requireAccess(ports, caller, anyProvider)
    return refuseId(id)
  }
  return {
    async get(id, who) {
      return (await find(id, who)).found.response
    },
    async remove(id, who) {
      const { owner } = await find(id, who)
      if (!(await storedResponses.remove(owner, id))) refuseId(id)
      return { id, object: 'response', deleted: true }
    },
  }
}

type Answered = { input: JsonObject[]; thread: StoredResponse[]; answer: JsonObject; provider: string; model: string }

function keepAnswer(
  stored: StoredResponses,
  owner: ResponseOwner,
  { input, thread, answer, provider, model }: Answered,
): Promise<boolean> {
  const response = answer as StoredResponse['response']
  const previous = thread.at(-1)?.id
  return stored.keep(owner, { id: String(answer.id), previous, provider, model, input, response })
}
