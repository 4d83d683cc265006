// Answers of the responses API, kept for a while: a later request goes on from one by its id, or names items of it.
import type { JsonObject } from '../../lib/json.ts'

/** Whose responses: nobody else finds them. */
export type ResponseOwner = {
  namespace: string
  /** The account that asked. */
  caller: string
}

export type StoredResponse = {
  id: string
  /** The response that it goes on from. */
  previous?: string | undefined
  /** The provider and its model that the request named; absent in those of before. */
  provider?: string | undefined
  model?: string | undefined
  /** Items that the request added. */
  input: JsonObject[]
  /** The answer as it was sent; its items are in `output`. */
  response: JsonObject & { output: JsonObject[] }
}

export interface StoredResponses {
  /**
   * Resolves when it is durable. Those of the owner that were kept first make room: one keeps 64 MiB,
   * where each counts as 64 KiB at least. False when it alone is too large to keep (16 MiB).
   */
  keep(owner: ResponseOwner, response: StoredResponse): Promise<boolean>
  /** Those there are, in no order. TooLarge for more than 16 MiB. */
  find(owner: ResponseOwner, ids: readonly string[]): Promise<StoredResponse[]>
  /** A response and all that it goes on from, the oldest first; undefined when one of them is missing. TooLarge for more than 16 MiB. */
  thread(owner: ResponseOwner, id: string): Promise<StoredResponse[] | undefined>
  /** False when there is none. */
  remove(owner: ResponseOwner, id: string): Promise<boolean>
  /** Removes those that were kept before. */
  sweep(before: Date): Promise<number>
}
