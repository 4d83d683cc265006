// The resource store: the semantics of the Kubernetes API, whatever holds the objects.
import type { Kind, ResourceOf } from '../../contract/kinds/index.ts'

/** Names one object of a kind. */
export type ResourceKey = { namespace: string; name: string }

/** Values by field. */
export type FieldFilter = Readonly<Record<string, string | readonly string[]>>

/** Which objects are meant: those for which all of it holds. */
export type ObjectFilter = {
  names?: readonly string[]
  /** Kubernetes label selector syntax: `a=b,c!=d,e in (x,y),!f`. */
  labelSelector?: string
  /** Text in the name, in any case. */
  search?: string
  /** An indexed field has this value, or one of these. Task: `phase`, `type`, `agent`, `session`, `owner` (uid of the parent task), `uid`. */
  fields?: FieldFilter
}

export type ResourceQuery = ObjectFilter & {
  /** Absent: all namespaces. */
  namespace?: string
  /** Of all namespaces only these. No part of the token: the next page may be asked for with others. */
  namespaces?: readonly string[]
  /**
   * Absent: `name`, which is by namespace, then by name. `created` is oldest first and `-created` newest first: by
   * `creationTimestamp`, within one second by uid.
   */
  sort?: 'name' | 'created' | '-created'
  /** Page size; absent: everything. */
  limit?: number
  /** Token of the page before. InvalidRequest when it is malformed or belongs to another query. */
  continue?: string
}

export type ResourcePage<R> = {
  items: R[]
  /** Version of the snapshot that every page of this listing is read from; a watch may start there. Opaque. */
  resourceVersion: string
  /** Present when more items follow. */
  continue?: string
  /** How many follow after this page, where it is known (unfiltered lists). */
  remainingItemCount?: number
}

export type WatchEvent<R> = { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: R }

export type WatchOptions = {
  namespace?: string
  /**
   * Events after this version, of a list or, within one namespace, of an object; absent: a synthetic ADDED for each
   * object there is, then what changes.
   */
  resourceVersion?: string
  signal: AbortSignal
}

export type DeletePreconditions = { uid?: string; resourceVersion?: string }

/** What a client supplies; the store sets uid, resourceVersion, generation and creationTimestamp. */
export type ResourceDraft<K extends Kind> = Omit<ResourceOf<K>, 'status' | 'metadata' | 'apiVersion' | 'kind'> & {
  metadata: ResourceKey &
    Partial<Pick<ResourceOf<K>['metadata'], 'labels' | 'annotations' | 'finalizers' | 'ownerReferences'>>
}

/** `latest`: whatever a replica has seen of the changes of others; that costs a call where the objects are kept elsewhere. */
export type GetOptions = { latest?: boolean }

export interface ResourceReader {
  /** The object, or undefined. */
  get<K extends Kind>(kind: K, key: ResourceKey, options?: GetOptions): Promise<ResourceOf<K> | undefined>
  /**
   * A page in the order asked for, over one snapshot: objects made, changed or removed after the first page do not
   * show on later pages. When that snapshot is gone the listing goes on from the last key over the present state.
   */
  list<K extends Kind>(kind: K, query: ResourceQuery): Promise<ResourcePage<ResourceOf<K>>>
  /** The namespaces that hold objects of the kind, in order. Cheap beside a list. */
  namespacesOf(kind: Kind): Promise<string[]>
  /**
   * How many objects have each value of an indexed field (as for `list`); values without objects are left out. Cheap
   * compared to a list: only the index is read. InvalidRequest for a field that the kind does not have.
   */
  countBy(kind: Kind, field: string): Promise<Record<string, number>>
  /**
   * Changes, those of a namespace in order of resourceVersion; every one of them, or an error. Expired when
   * `resourceVersion` is older than what is remembered: list again. Ends when the signal aborts. Objects may be shared
   * between watchers and frozen: only read them, and fetch your own copy to change.
   */
  watch<K extends Kind>(kind: K, options: WatchOptions): AsyncIterable<WatchEvent<ResourceOf<K>>>
}

/** Sums of tasks by something that they have. */
export type TallyName = 'phase' | 'waitingSince' | 'runningAgent' | 'ended' | 'endedBy'

/** How many tasks of a namespace have a value. */
export type Tally = { namespace: string; value: string; count: number }

export type TallyQuery = { namespaces?: readonly string[] | undefined; from?: string; minOnly?: boolean }

/** Sums of tasks that the store keeps up to date, so that reading them costs nothing by the number of tasks. */
export interface TaskTallies {
  /**
   * `phase`; `waitingSince`: when pending tasks were created; `runningAgent`: agents of running tasks, empty for those without
   * one; `ended`: `2026-01-31T14 Failed TimedOut`, the hour in UTC, the phase and the reason of a failure, of tasks that have
   * ended; `endedBy`: `2026-01-31 Failed TimedOut researcher`, the day, the same and the agent. `from`: no value that sorts before it. `minOnly`: of each namespace only the value that sorts first.
   */
  tallyTasks(name: TallyName, query?: TallyQuery): Promise<Tally[]>
}

/** An object as JSON: exactly the output of `JSON.stringify`, without white space. */
export type ResourceText = { text: string; resourceVersion: string }

/** A change of an object, as text; what a watch begins with is ADDED. */
export type TextChange = {
  type: WatchEvent<unknown>['type']
  kind: Kind
  namespace: string
  name: string
  /** The object after the change; of a removed one its last state. */
  object: string
}

/** An object that begins to match the filter is ADDED, one that no longer matches is DELETED. */
export type TextWatchOptions = ObjectFilter & {
  kinds: readonly Kind[]
  /** Absent: all of them. */
  namespaces?: readonly string[]
  /** A position that a watch gave, or the version of an object; absent: an ADDED for each object there is, then `synced`. */
  after?: string
  /** False: what there is at the beginning is left out, and `synced` comes at once. */
  present?: boolean
  signal: AbortSignal
}

export interface TextWatch extends AsyncIterable<TextChange | 'synced'> {
  /**
   * Everything up to here was given, so that a watch of the same kinds can begin after it, on any replica; undefined
   * before `synced`. It rises, also while nothing is given. Where the kinds are not told in one order, a watch that begins there
   * may give again what this one gave last.
   */
  position(): string | undefined
}

/** Reads for edges that pass objects on without looking inside: a store that holds text need not parse it. */
export interface ResourceTextReader {
  /** The text of the object that `get` returns, or undefined. */
  getText(kind: Kind, key: ResourceKey): Promise<ResourceText | undefined>
  /** The page that `list` returns, each object as text. */
  listText(kind: Kind, query: ResourceQuery): Promise<ResourcePage<ResourceText>>
  /**
   * Changes of several kinds, those of one kind in order; every one of them, or an error. Expired, at once or where the reader
   * is too slow, when changes after the position are no longer remembered; InvalidRequest for what is not a position, and for a
   * filter that one of the kinds cannot have. Nothing is kept for a slow reader. Ends when the signal aborts or the store is closed.
   */
  watchText(options: TextWatchOptions): TextWatch
}

export interface ResourceWriter {
  /** AlreadyExists when the name is taken. `generation` starts at 1; status is empty. Resolves when it is durable. */
  create<K extends Kind>(kind: K, draft: ResourceDraft<K>): Promise<ResourceOf<K>>
  /**
   * Replaces spec, labels, annotations, finalizers and owner references; ignores status and server-set metadata.
   * Conflict when `metadata.resourceVersion` is given and stale; NotFound; Conflict when `metadata.uid` is given and
   * differs. `generation` rises when the spec changes. A write that changes nothing keeps the resourceVersion.
   * Removing the last finalizer of an object that is being deleted removes it.
   */
  update<K extends Kind>(kind: K, object: ResourceOf<K>): Promise<ResourceOf<K>>
  /**
   * Removes the object, or sets deletionTimestamp when it has finalizers (the object is then returned; repeating is
   * harmless). Objects owned by it (same namespace, by uid) are removed after it. NotFound; Conflict on preconditions.
   */
  remove<K extends Kind>(kind: K, key: ResourceKey, preconditions?: DeletePreconditions): Promise<ResourceOf<K>>
}

export interface StatusWriter {
  /** Replaces status alone; never touches generation. Conflict and NotFound as for update. */
  updateStatus<K extends Kind>(kind: K, object: ResourceOf<K>): Promise<ResourceOf<K>>
}

export interface Resources extends ResourceReader, ResourceTextReader, TaskTallies, ResourceWriter, StatusWriter {}
