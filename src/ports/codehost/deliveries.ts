// Deliveries of a code host to the webhook: each is stored before it is answered, and processed by one replica.
import type { DeliveryOutcome, DeliveryState } from '../../contract/api/codehost/deliveries.ts'
import type { CodeHostEvent } from '../../contract/api/codehost/events.ts'

export type DeliveryDraft = {
  /** The id that the code host gave it; it alone identifies repeats. */
  id: string
  /** The namespace in which it is shown. */
  namespace: string
  /** Name of the event, such as `pull_request`. */
  event: string
  action?: string | undefined
  /** `owner/name`, in lower case. */
  repository?: string | undefined
  /** Of the issue or pull request. */
  number?: number | undefined
  sender?: string | undefined
  label?: string | undefined
  /** When the code host changed the issue or pull request; RFC 3339. */
  happenedAt?: string | undefined
  /** What is left to do is read from it; absent: there is nothing to do. */
  facts?: CodeHostEvent | undefined
  /** `pending`, or how it ended at once. */
  state: DeliveryState
  outcome: DeliveryOutcome
}

export type Delivery = DeliveryDraft & {
  receivedAt: string
  /** How often it was taken up. */
  attempts: number
  /** When it is taken up again; absent: it has ended. */
  dueAt?: string | undefined
}

/** A cursor of the list. */
export type DeliveryCursor = Pick<Delivery, 'receivedAt' | 'id'>

export type DeliveryQuery = {
  /** Absent: of all namespaces. */
  namespaces?: readonly string[] | undefined
  repository?: string | undefined
  number?: number | undefined
  event?: string | undefined
  state?: DeliveryState | undefined
  /** Only older ones. */
  before?: DeliveryCursor | undefined
  limit: number
}

/** One issue or pull request, and what was taken off it or closed. */
export type RemovalQuery = {
  repository: string
  number: number
  /** Also when this label was taken off; the end of the issue or pull request counts for each. */
  label: string
  /** Only what happened later; RFC 3339. */
  after: string
}

export interface Deliveries {
  /** Resolves when it is durable. One whose id is there already is not stored again: `isNew` is false. */
  accept(draft: DeliveryDraft): Promise<{ delivery: Delivery; isNew: boolean }>
  get(id: string): Promise<Delivery | undefined>
  /** Newest first. */
  list(query: DeliveryQuery): Promise<Delivery[]>
  /** Ids of those that are due, oldest first. */
  due(limit: number): Promise<string[]>
  /**
   * Takes a delivery that is due for `leaseMs`; undefined when there is none, because another replica holds it or it has
   * ended. `worker` is a name that nobody else uses.
   */
  claim(id: string, lease: { worker: string; leaseMs: number }): Promise<Delivery | undefined>
  /** Holds it for longer. False when another worker has taken it meanwhile. */
  extend(id: string, lease: { worker: string; leaseMs: number }): Promise<boolean>
  /** Ends it. False, and no change, when another worker has taken it meanwhile. */
  settle(id: string, worker: string, end: { state: DeliveryState; outcome: DeliveryOutcome }): Promise<boolean>
  /** Gives it back, to be taken up again after a while. False as in `settle`. */
  postpone(id: string, worker: string, again: { afterMs: number; outcome: DeliveryOutcome }): Promise<boolean>
  /** Makes one that has ended pending again. NotFound; Conflict when it is pending, or there is nothing to do for it. */
  reopen(id: string): Promise<Delivery>
  /** The newest delivery by which a label was taken off, or the issue or pull request ended, after a time. */
  findRemoval(query: RemovalQuery): Promise<Delivery | undefined>
  /** Removes those that have ended. */
  sweep(before: Date): Promise<number>
}
