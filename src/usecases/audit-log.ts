// The audit log: notes what happened without holding anybody up, writes it in batches, and shows it to administrators.
import type { AccessKind, AccessVerb } from '../contract/access.ts'
import { isSvcError } from '../errors.ts'
import type { AuditQuery, AuditRecord } from '../ports/audit.ts'
import type { Caller, WorkerIdentity } from '../ports/identity.ts'
import { identifyCaller, identifyTask } from '../rules/caller-identity.ts'
import { requireAccess } from './access.ts'
import { createBatches } from './batching.ts'
import type { UsecaseDeps } from './deps.ts'

export type AuditNote = Omit<AuditRecord, 'id' | 'createdAt'>

type AuditMark = Pick<AuditNote, 'allowed' | 'verb' | 'via'>

export type AuditLog = {
  /** Kept when it is a write of a person or a refusal; everything with `--audit-level all`. */
  note(note: AuditNote): void
  /** Whether `note` would keep it: most calls of the proxies need not be described. */
  keeps(note: AuditMark): boolean
  /** Newest first. Forbidden but for administrators. */
  list(caller: Caller, query: AuditQuery): Promise<AuditRecord[]>
  /** Writes what is not written yet. */
  close(): Promise<void>
}

const flushMs = 1000
const recordsPerWrite = 500
/** While the store is away; beyond it the oldest are lost, and that is told. */
const mostUnwritten = 20_000

const isRead = (verb: AccessVerb) => verb === 'get' || verb === 'list'

/** Calls of models and the many small writes of workers are told by usage, results and logs. */
function isKept({ allowed, verb, via }: AuditMark): boolean {
  return !allowed || (!isRead(verb) && (via === 'api' || via === 'chat'))
}

type Report = (message: string, error?: unknown) => void

/** What is to be written, in order, by one batch at a time. */
function createBacklog(append: (records: AuditRecord[]) => Promise<void>, report: Report) {
  let unwritten: AuditRecord[] = []
  let lost = 0

  /** Taken out while it is written, so that two who write at once never write the same. */
  async function writeBatch(): Promise<void> {
    const batch = unwritten.splice(0, recordsPerWrite)
    try {
      await append(batch)
    } catch (error) {
      unwritten = [...batch, ...unwritten]
      throw error
    }
    if (lost > 0) report(`${lost} records of the audit log were lost while the store was away`)
    lost = 0
  }

  return {
    isEmpty: () => unwritten.length === 0,
    add(record: AuditRecord) {
      unwritten.push(record)
      if (unwritten.length <= mostUnwritten) return
      unwritten.shift()
      lost += 1
    },
    async flush() {
      try {
        while (unwritten.length > 0) await writeBatch()
      } catch (error) {
        report('the audit log could not be written; it is tried again', error)
      }
    },
  }
}

export function createAuditLog({ ports, settings }: UsecaseDeps): AuditLog {
  const { clock, ids, records } = ports
  const { level = 'writes', report = () => {} } = settings.audit ?? {}
  const backlog = createBacklog((batch) => records.audit.append(batch), report)
  const batches = createBatches({ clock, everyMs: flushMs, isEmpty: backlog.isEmpty, flush: backlog.flush })
  const keeps = (mark: AuditMark) => level !== 'writes' || isKept(mark)
  return {
    keeps,
    note(note) {
      if (!keeps(note)) return
      backlog.add({ id: ids.next('aud'), createdAt: clock.now().toISOString(), ...note })
      batches.wake()
    },
    async list(caller, query) {
      const namespace = query.namespace ?? caller.boundNamespace
      const seen = namespace === undefined ? {} : { namespace }
      await requireAccess(ports, caller, { verb: 'list', kind: 'Audit', ...seen })
      await backlog.flush()
      return records.audit.list({ ...query, ...seen })
    },
    close: batches.close,
  }
}

/** Who it was. A task and the command line of its agent are named by the task. */
export function describeWho(identity: Caller | WorkerIdentity): Pick<AuditNote, 'caller' | 'taskUid'> {
  if (!('username' in identity)) return { caller: identifyTask(identity), taskUid: identity.taskUid }
  const { agent } = identity
  return { caller: identifyCaller(identity), ...(agent === undefined ? {} : { taskUid: agent.taskUid }) }
}

type Target = { verb: AccessVerb; kind: AccessKind; namespace: string; name?: string }

/** Does it and notes it as done by a model for the caller. */
export async function noteChat<T>(log: AuditLog, caller: Caller, target: Target, act: () => Promise<T>): Promise<T> {
  const note = { ...target, ...describeWho(caller), ...caller.origin, via: 'chat' as const }
  try {
    const value = await act()
    log.note({ ...note, allowed: true })
    return value
  } catch (error) {
    log.note({ ...note, allowed: !isSvcError(error, 'Forbidden') })
    throw error
  }
}
