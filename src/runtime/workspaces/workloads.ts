// The Workloads port for attempts that run in execution workspaces; all others go on to the workloads behind it.
import { messageOf, SvcError } from '../../errors.ts'
import { dropUndefined } from '../../lib/json.ts'
import type { AttemptKey, WorkloadSpec, WorkloadState, Workloads } from '../../ports/tasks/workloads.ts'
import type { WorkspaceClaim } from '../../ports/workspaces/execution-workspaces.ts'
import type { WorkspaceHolder, WorkspaceKey, WorkspaceRecord } from '../../ports/workspaces/workspace-records.ts'
import type { AttemptSecrets, WorkspaceAttempt, WorkspaceWorkloadsOptions } from './attempt.ts'
import { failedState } from './commands.ts'
import { adoptAttempt, cleanUpLost, runAttempt } from './run.ts'

export type WorkspaceWorkloads<W extends Workloads> = W & {
  /** Stops to follow the attempts in workspaces; another replica goes on with them. */
  detach(): Promise<void>
}

type Table<W extends Workloads> = {
  options: WorkspaceWorkloadsOptions
  inner: W & { detach?(): Promise<void> }
  entries: Map<string, WorkspaceAttempt>
  listeners: Set<Parameters<Workloads['onChange']>[0]>
}

function nameEntry({ taskUid, attempt }: AttemptKey): string {
  return `${taskUid}/${attempt}`
}

function isOver({ phase }: WorkloadState): boolean {
  return phase === 'Succeeded' || phase === 'Failed'
}

function toClaim(spec: WorkloadSpec, workspace: NonNullable<WorkloadSpec['workspace']>): WorkspaceClaim {
  const { claim, template, pool, boot, program } = workspace
  const labels = { 'svc.ai/namespace': spec.namespace, 'svc.ai/task': spec.taskName }
  return dropUndefined({ ...claim, template, pool, program, ...(boot && { boot }), labels })
}

function listSecrets({ run }: WorkloadSpec): AttemptSecrets {
  if (run.kind !== 'worker') return { own: [], lasting: [] }
  const { api, agent, redact } = run.assignment
  const own = [api.token, agent?.token ?? ''].filter((token) => token !== '')
  return { own, lasting: redact.filter((secret) => secret !== '' && !own.includes(secret)) }
}

function providerOf<W extends Workloads>({ options }: Table<W>, provider: WorkspaceKey['provider']) {
  const found = options.providers[provider]
  if (found !== undefined) return found
  throw new SvcError('InvalidRequest', `workspace provider ${provider} is not enabled on this service any more`)
}

function announce<W extends Workloads>({ listeners }: Table<W>, { holder }: WorkspaceAttempt): void {
  const { namespace, taskName, taskUid, attempt } = holder
  for (const listener of listeners) listener({ key: { taskUid, attempt }, namespace, taskName })
}

type Begin = Pick<WorkspaceAttempt, 'holder' | 'key' | 'facts' | 'secrets' | 'state'>

function begin<W extends Workloads>(
  table: Table<W>,
  parts: Begin,
  run: (attempt: WorkspaceAttempt) => Promise<WorkloadState | undefined>,
): WorkspaceAttempt {
  const attempt: WorkspaceAttempt = {
    ...parts,
    workspaces: table.options.retired?.[parts.key.provider] ?? providerOf(table, parts.key.provider),
    stop: undefined,
    stopping: new AbortController(),
    isDetached: false,
    finished: Promise.resolve(),
  }
  table.entries.set(nameEntry(attempt.holder), attempt)
  attempt.finished = run(attempt)
    .catch((error: unknown) =>
      failedState('Stopped', `the attempt was lost: ${messageOf(error)}`, table.options.clock.now()),
    )
    .then((end) => {
      if (end === undefined || attempt.isDetached) return
      attempt.state = end
      announce(table, attempt)
    })
  return attempt
}

const refusals = {
  busy: (name: string) => `waiting for its execution workspace "${name}", which another attempt still uses`,
  full: (namespace: string, quota: number) =>
    `namespace "${namespace}" has ${quota} execution workspaces, which is as many as it may have (--execution-workspace-quota); ` +
    'release one of the list of workspaces that is not needed any more',
}

/** Recorded first, then claimed: a crash in between leaves nothing that is not known. Unavailable while it cannot be had. */
async function ensureAttempt<W extends Workloads>(table: Table<W>, spec: WorkloadSpec): Promise<void> {
  const { workspace } = spec
  if (workspace === undefined || table.entries.has(nameEntry(spec.key))) return
  const { options } = table
  providerOf(table, workspace.provider)
  const holder: WorkspaceHolder = { ...spec.key, namespace: spec.namespace, taskName: spec.taskName }
  const key = { provider: workspace.provider, ...workspace.claim }
  const claim = toClaim(spec, workspace)
  const { cleanupPolicy, reuseKey: session, requester, secrets } = workspace
  const facts = dropUndefined({ claim, cleanupPolicy, session, requester, secrets })
  const answer = await options.records.lease({ ...key, holder, facts, quota: options.quota })
  if (answer === 'busy') throw new SvcError('Unavailable', refusals.busy(session ?? claim.name))
  if (answer === 'full') throw new SvcError('Unavailable', refusals.full(spec.namespace, options.quota))
  const stored = await options.records.get(key)
  const known = { holder, key, facts: stored?.facts ?? facts, secrets: listSecrets(spec) }
  begin(table, { ...known, state: { phase: 'Pending' } }, (attempt) => runAttempt(options, attempt, spec))
}

/** Of an attempt that an earlier process, or another replica, began. */
function adopt<W extends Workloads>(
  table: Table<W>,
  { holder, ...record }: WorkspaceRecord,
): WorkspaceAttempt | undefined {
  const { options } = table
  if (holder === undefined || options.providers[record.provider] === undefined) return undefined
  const { provider, namespace, name, facts } = record
  const startedAt = new Date(facts.startedAt ?? options.clock.now())
  const known = { holder, key: { provider, namespace, name }, facts, secrets: undefined }
  return begin(table, { ...known, state: { phase: 'Running', startedAt } }, (attempt) => adoptAttempt(options, attempt))
}

async function findAttempt<W extends Workloads>(
  table: Table<W>,
  key: AttemptKey,
): Promise<WorkspaceAttempt | undefined> {
  const known = table.entries.get(nameEntry(key))
  if (known !== undefined) return known
  const record = await table.options.records.ofAttempt(key)
  if (record?.step !== 'running') return undefined
  return table.entries.get(nameEntry(key)) ?? adopt(table, record)
}

/** Nothing of it runs here: what it may have begun is cleaned up. */
async function cleanUpRecord<W extends Workloads>(table: Table<W>, record: WorkspaceRecord): Promise<void> {
  const { holder, provider, namespace, name, facts } = record
  if (holder === undefined) return
  const { providers, retired, records } = table.options
  // Nobody can end it now; the sweep does once its provider is enabled again.
  if (providers[provider] === undefined && retired?.[provider] === undefined) {
    await records.seize({ provider, namespace, name }, holder)
    return
  }
  const known = { holder, key: { provider, namespace, name }, facts, secrets: undefined }
  const attempt = begin(table, { ...known, state: { phase: 'Pending' } }, (lost) => cleanUpLost(table.options, lost))
  await attempt.finished
  table.entries.delete(nameEntry(holder))
}

async function removeAttempt<W extends Workloads>(table: Table<W>, key: AttemptKey): Promise<boolean> {
  const attempt = table.entries.get(nameEntry(key))
  if (attempt === undefined) {
    const record = await table.options.records.ofAttempt(key)
    if (record !== undefined) await cleanUpRecord(table, record)
    return record !== undefined
  }
  attempt.stop ??= failedState('Stopped', 'The attempt was stopped.', table.options.clock.now())
  attempt.stopping.abort()
  await attempt.finished
  if (table.entries.get(nameEntry(key)) === attempt) table.entries.delete(nameEntry(key))
  return true
}

async function detachAll<W extends Workloads>({ entries }: Table<W>): Promise<void> {
  const all = [...entries.values()]
  for (const attempt of all) {
    attempt.isDetached = !isOver(attempt.state)
    attempt.stopping.abort()
  }
  await Promise.all(all.map(({ finished }) => finished))
  entries.clear()
}

async function closeAll<W extends Workloads>(table: Table<W>): Promise<void> {
  const { options, inner, entries } = table
  if (options.endsOnClose)
    await Promise.allSettled([...entries.values()].map(({ holder }) => removeAttempt(table, holder)))
  else await detachAll(table)
  await inner.close()
}

export function withExecutionWorkspaces<W extends Workloads & { detach?(): Promise<void> }>(
  inner: W,
  options: WorkspaceWorkloadsOptions,
): WorkspaceWorkloads<W> {
  const table: Table<W> = { options, inner, entries: new Map(), listeners: new Set() }
  const countRunning = () => [...table.entries.values()].filter(({ state }) => !isOver(state)).length
  return {
    ...inner,
    ensure: (spec) => (spec.workspace === undefined ? inner.ensure(spec) : ensureAttempt(table, spec)),
    observe: async (key) => (await findAttempt(table, key))?.state ?? (await inner.observe(key)),
    remove: async (key) => {
      if (!(await removeAttempt(table, key))) await inner.remove(key)
    },
    onChange: (listener) => {
      table.listeners.add(listener)
      const leave = inner.onChange(listener)
      return () => {
        table.listeners.delete(listener)
        leave()
      }
    },
    capacity: (mode) => Math.max(0, inner.capacity(mode) - (mode === 'shared' ? 0 : countRunning())),
    detach: async () => {
      await detachAll(table)
      await inner.detach?.()
    },
    close: () => closeAll(table),
  }
}
