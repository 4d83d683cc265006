// The audit log: records what happened without delaying anyone, writes in batches, and shows the log to administrators.
import type { AccessKind, AccessVerb } from '../../contract/api/identity/access.ts'
import { isSvcError } from '../../errors.ts'
import { createBatches } from '../../lib/batching.ts'
import type { AuditQuery, AuditRecord } from '../../ports/identity/audit.ts'
import type { Caller, WorkerIdentity } from '../../ports/identity/identity.ts'
import { identifyCaller, identifyTask } from '../../rules/identity/caller-identity.ts'
import type { UsecaseDeps } from '../service/deps.ts'
import { requireAccess } from './access.ts'

export type AuditNote = Omit<AuditRecord, 'id' | 'createdAt'>

type AuditMark = Pick<AuditNote, 'allowed' | 'verb' | 'via'>

export type AuditLog = {
  /** Keeps a person's writes and all refusals; everything with `--audit-level all`. */
  note(note: AuditNote): void
  /** Whether `note` would keep it; saves describing most calls of the proxies. */
  keeps(note: AuditMark): boolean
  /** Newest first. Forbidden except for administrators. */
  list(caller: Caller, query: AuditQuery): Promise<AuditRecord[]>
  /** Writes what is still pending. */
  close(): Promise<void>
}

const flushMs = 1000
const recordsPerWrite = 500
/** Limit while the store is unavailable; beyond it the oldest records are lost, which is reported. */
const maxUnwritten = 20_000

const isRead = (verb: AccessVerb) => verb === 'get' || verb === 'list'

/** Model calls and workers' many small writes are left out: usage, results and logs already show them. */
function isRecorded({ allowed, verb, via }: AuditMark): boolean {
  return !allowed || (!isRead(verb) && (via === 'api' || via === 'chat'))
}

type Report = (message: string, error?: unknown) => void

/** Pending records in order, written one batch at a time. */
function createBacklog(append: (records: AuditRecord[]) => Promise<void>, report: Report) {
  let unwritten: AuditRecord[] = []
  let lost = 0

  /** Taken out while being written, so that two concurrent flushes never write the same record. */
  async function writeBatch(): Promise<void> {
    const batch = unwritten.splice(0, recordsPerWrite)
    try {
      await append(batch)
    } catch (error) {
      unwritten = [...batch, ...unwritten]
      throw error
    }
    if (lost > 0) report(`${lost} records of the audit log were lost while the store was unavailable`)
    lost = 0
  }

  return {
    isEmpty: () => unwritten.length === 0,
    add(record: AuditRecord) {
      unwritten.push(record)
      if (unwritten.length <= maxUnwritten) return
      unwritten.shift()
      lost += 1
    },
    async flush() {
      try {
        while (unwritten.length > 0) await writeBatch()
      } catch (error) {
        report('the audit log could not be written; it will be retried', error)
      }
    },
  }
}

export function createAuditLog({ ports, settings }: UsecaseDeps): AuditLog {
  const { clock, ids, records } = ports
  const { level = 'writes', report = () => {} } = settings.audit ?? {}
  const backlog = createBacklog((batch) => records.audit.append(batch), report)
  const batches = createBatches({ clock, everyMs: flushMs, isEmpty: backlog.isEmpty, flush: backlog.flush })
  const keeps = (mark: AuditMark) => level !== 'writes' || isRecorded(mark)
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

/** Who acted. A task, and the command line of its agent, appear under the task's name. */
export function describeWho(identity: Caller | WorkerIdentity): Pick<AuditNote, 'caller' | 'taskUid'> {
  if (!('username' in identity)) return { caller: identifyTask(identity), taskUid: identity.taskUid }
  const { agent } = identity
  return { caller: identifyCaller(identity), taskUid: agent?.taskUid }
}

type Target = { verb: AccessVerb; kind: AccessKind; namespace: string; name?: string }

/** Runs it, and records it as done by a model for the caller. */
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
