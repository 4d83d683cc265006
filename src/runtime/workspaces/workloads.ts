// The Workloads port for attempts that run in execution workspaces; all others go on to the workloads behind it.
import { dropUndefined } from '../../contract/schema/json.ts'
import { messageOf, SvcError } from '../../errors.ts'
import type { AttemptKey, WorkloadSpec, WorkloadState, Workloads } from '../../ports/tasks/workloads.ts'
import type { WorkspaceClaim } from '../../ports/workspaces/execution-workspaces.ts'
import type { WorkspaceHolder, WorkspaceKey, WorkspaceRecord } from '../../ports/workspaces/workspace-records.ts'
import type { AttemptSecrets, Held, WorkspaceWorkloadsOptions } from './held.ts'
import { fail } from './outcome.ts'
import { adoptHeld, cleanUpLost, runHeld } from './run.ts'

export type WorkspaceWorkloads<W extends Workloads> = W & {
  /** Stops to follow the attempts in workspaces; another replica goes on with them. */
  letGo(): Promise<void>
}

type Table<W extends Workloads> = {
  options: WorkspaceWorkloadsOptions
  inner: W & { letGo?(): Promise<void> }
  entries: Map<string, Held>
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
  if (run.kind !== 'worker') return { own: [], given: [] }
  const { api, agent, redact } = run.assignment
  const own = [api.token, agent?.token ?? ''].filter((token) => token !== '')
  return { own, given: redact.filter((secret) => secret !== '' && !own.includes(secret)) }
}

function providerOf<W extends Workloads>({ options }: Table<W>, provider: WorkspaceKey['provider']) {
  const found = options.providers[provider]
  if (found !== undefined) return found
  throw new SvcError('InvalidRequest', `workspace provider ${provider} is not enabled on this service any more`)
}

function announce<W extends Workloads>({ listeners }: Table<W>, { holder }: Held): void {
  const { namespace, taskName, taskUid, attempt } = holder
  for (const listener of listeners) listener({ key: { taskUid, attempt }, namespace, taskName })
}

type Begin = Pick<Held, 'holder' | 'key' | 'facts' | 'secrets' | 'state'>

function begin<W extends Workloads>(
  table: Table<W>,
  parts: Begin,
  run: (held: Held) => Promise<WorkloadState | undefined>,
): Held {
  const held: Held = {
    ...parts,
    workspaces: table.options.retired?.[parts.key.provider] ?? providerOf(table, parts.key.provider),
    stop: undefined,
    stopping: new AbortController(),
    isLetGo: false,
    finished: Promise.resolve(),
  }
  table.entries.set(nameEntry(held.holder), held)
  held.finished = run(held)
    .catch((error: unknown) => fail('Stopped', `the attempt was lost: ${messageOf(error)}`, table.options.clock.now()))
    .then((end) => {
      if (end === undefined || held.isLetGo) return
      held.state = end
      announce(table, held)
    })
  return held
}

const refusals = {
  busy: (name: string) => `waiting for its execution workspace "${name}", which another attempt still uses`,
  full: (namespace: string, quota: number) =>
    `namespace "${namespace}" has ${quota} execution workspaces, which is as many as it may have (--execution-workspace-quota); ` +
    'release one of the list of workspaces that is not needed any more',
}

/** Recorded first, then claimed: a crash in between leaves nothing that is not known. Unavailable while it cannot be had. */
async function ensureHeld<W extends Workloads>(table: Table<W>, spec: WorkloadSpec): Promise<void> {
  const { workspace } = spec
  if (workspace === undefined || table.entries.has(nameEntry(spec.key))) return
  const { options } = table
  providerOf(table, workspace.provider)
  const holder: WorkspaceHolder = { ...spec.key, namespace: spec.namespace, taskName: spec.taskName }
  const key = { provider: workspace.provider, ...workspace.claim }
  const claim = toClaim(spec, workspace)
  const { cleanupPolicy, reuseKey: session } = workspace
  const facts = dropUndefined({ claim, cleanupPolicy, session })
  const answer = await options.records.hold({ ...key, holder, facts, quota: options.quota })
  if (answer === 'busy') throw new SvcError('Unavailable', refusals.busy(session ?? claim.name))
  if (answer === 'full') throw new SvcError('Unavailable', refusals.full(spec.namespace, options.quota))
  const stored = await options.records.get(key)
  const known = { holder, key, facts: stored?.facts ?? facts, secrets: listSecrets(spec) }
  begin(table, { ...known, state: { phase: 'Pending' } }, (held) => runHeld(options, held, spec))
}

/** Of an attempt that an earlier process, or another replica, began. */
function adopt<W extends Workloads>(table: Table<W>, { holder, ...record }: WorkspaceRecord): Held | undefined {
  const { options } = table
  if (holder === undefined || options.providers[record.provider] === undefined) return undefined
  const { provider, namespace, name, facts } = record
  const startedAt = new Date(facts.startedAt ?? options.clock.now())
  const known = { holder, key: { provider, namespace, name }, facts, secrets: undefined }
  return begin(table, { ...known, state: { phase: 'Running', startedAt } }, (held) => adoptHeld(options, held))
}

async function findHeld<W extends Workloads>(table: Table<W>, key: AttemptKey): Promise<Held | undefined> {
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
  const held = begin(table, { ...known, state: { phase: 'Pending' } }, (lost) => cleanUpLost(table.options, lost))
  await held.finished
  table.entries.delete(nameEntry(holder))
}

async function removeHeld<W extends Workloads>(table: Table<W>, key: AttemptKey): Promise<boolean> {
  const held = table.entries.get(nameEntry(key))
  if (held === undefined) {
    const record = await table.options.records.ofAttempt(key)
    if (record !== undefined) await cleanUpRecord(table, record)
    return record !== undefined
  }
  held.stop ??= fail('Stopped', 'The attempt was stopped.', table.options.clock.now())
  held.stopping.abort()
  await held.finished
  if (table.entries.get(nameEntry(key)) === held) table.entries.delete(nameEntry(key))
  return true
}

async function letGoAll<W extends Workloads>({ entries }: Table<W>): Promise<void> {
  const all = [...entries.values()]
  for (const held of all) {
    held.isLetGo = !isOver(held.state)
    held.stopping.abort()
  }
  await Promise.all(all.map(({ finished }) => finished))
  entries.clear()
}

async function closeAll<W extends Workloads>(table: Table<W>): Promise<void> {
  const { options, inner, entries } = table
  if (options.endsOnClose)
    await Promise.allSettled([...entries.values()].map(({ holder }) => removeHeld(table, holder)))
  else await letGoAll(table)
  await inner.close()
}

export function withExecutionWorkspaces<W extends Workloads & { letGo?(): Promise<void> }>(
  inner: W,
  options: WorkspaceWorkloadsOptions,
): WorkspaceWorkloads<W> {
  const table: Table<W> = { options, inner, entries: new Map(), listeners: new Set() }
  const countRunning = () => [...table.entries.values()].filter(({ state }) => !isOver(state)).length
  return {
    ...inner,
    ensure: (spec) => (spec.workspace === undefined ? inner.ensure(spec) : ensureHeld(table, spec)),
    observe: async (key) => (await findHeld(table, key))?.state ?? (await inner.observe(key)),
    remove: async (key) => {
      if (!(await removeHeld(table, key))) await inner.remove(key)
    },
    onChange: (listener) => {
      table.listeners.add(listener)
      const leave = inner.onChange(listener)
      return () => {
        table.listeners.delete(listener)
        leave()
      }
    },
    capacity: () => Math.max(0, inner.capacity() - countRunning()),
    letGo: async () => {
      await letGoAll(table)
      await inner.letGo?.()
    },
    close: () => closeAll(table),
  }
}
