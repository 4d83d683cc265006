// Claims of sandboxes: made, waited for, listed.

import { listScopes } from '../../cluster/api/paths.ts'
import { isSvcError } from '../../errors.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import {
  type ListedWorkspace,
  type WorkspaceClaim,
  WorkspaceError,
} from '../../ports/workspaces/execution-workspaces.ts'
import { explainFault } from './faults.ts'
import type { Installed } from './installation.ts'
import { component, labels, readClaim, type Sandbox, type SandboxClaim, templateAnnotation } from './objects.ts'
import type { SandboxReader } from './reader.ts'
import { findReadySandbox, judgeClaim } from './state.ts'
import { referToTemplate, type TemplateParts } from './templates.ts'
import { type Watcher, waitForObject } from './watched-object.ts'

export type ClaimParts = Watcher &
  TemplateParts & {
    reader: SandboxReader
    /** Absent or empty: all. */
    namespaces?: readonly string[] | undefined
  }

/** What is deleted is gone by then, or its node does not answer. */
const endTimeoutMs = 60_000

export function nameClaim({ namespace, name }: ResourceKey): string {
  return `SandboxClaim ${namespace}/${name}`
}

/** Deleted, with all that it had. */
export async function waitUntilGone(parts: ClaimParts, { namespace, name }: ResourceKey): Promise<void> {
  const { claims: collection } = (await parts.reader.find()).collections
  const judge = (claim: SandboxClaim | undefined) => claim === undefined || undefined
  const signal = AbortSignal.timeout(endTimeoutMs)
  try {
    await waitForObject<SandboxClaim, true>(parts, { collection, namespace, name, judge }, signal)
  } catch (error) {
    if (!signal.aborted) throw error
    const message = `${nameClaim({ namespace, name })} is still being deleted after ${endTimeoutMs / 1000} s`
    throw new WorkspaceError('ProviderUnavailable', message)
  }
}

type Making = { installed: Installed; claim: WorkspaceClaim; spec: object }

async function makeClaim(parts: ClaimParts, { installed, claim, spec }: Making): Promise<void> {
  const { claims: collection } = installed.collections
  const { namespace, name } = claim
  const body = {
    apiVersion: `${collection.group}/${collection.version}`,
    kind: 'SandboxClaim',
    metadata: {
      name,
      namespace,
      labels: { ...claim.labels, [labels.instance]: parts.instance, [labels.component]: component },
      annotations: { [templateAnnotation]: claim.template.name },
    },
    spec,
  }
  await parts.api.request({ verb: 'create', collection, namespace, body })
}

function checkOwn({ metadata }: SandboxClaim, instance: string): void {
  if (metadata.labels?.[labels.instance] === instance) return
  throw new WorkspaceError('ProtocolError', `${nameClaim(metadata)} is there, but not of this service: delete it`)
}

/** Whether it had to be made. */
export async function ensureClaim(parts: ClaimParts, claim: WorkspaceClaim): Promise<boolean> {
  const installed = await parts.reader.find()
  const referring = referToTemplate(parts, installed, claim)
  // What is there is used, whatever became of its template.
  referring.catch(() => undefined)
  const found = await parts.reader.claim(claim)
  if (found?.metadata.deletionTimestamp !== undefined) await waitUntilGone(parts, claim)
  else if (found !== undefined) {
    checkOwn(found, parts.instance)
    return false
  }
  try {
    await makeClaim(parts, { installed, claim, spec: await referring })
    return true
  } catch (error) {
    if (!isSvcError(error, 'AlreadyExists')) throw error
    return false
  }
}

export type SandboxWait = {
  signal: AbortSignal
  /** The claim as it is now. Absent: it is on its way to something else. */
  seen?: SandboxClaim | undefined
  onPending(why: string): void
}

/** The sandbox, once it is ready. Rejects with what the claim says when it never will be. */
export async function waitForSandbox(
  parts: ClaimParts,
  claim: ResourceKey,
  { signal, seen, onPending }: SandboxWait,
): Promise<Sandbox> {
  signal.throwIfAborted()
  const { claims: collection } = (await parts.reader.find()).collections
  const judge = (found: SandboxClaim | undefined) => {
    const state = judgeClaim(found)
    if (state.phase === 'Absent') throw new WorkspaceError('WorkspaceLost', `${nameClaim(claim)} is gone`)
    if (state.phase === 'Failed') throw new WorkspaceError(state.reason, state.message)
    if (state.phase === 'Pending') onPending(state.message ?? '')
    return found !== undefined && findReadySandbox(found) !== undefined ? found : undefined
  }
  const wanted = { collection, namespace: claim.namespace, name: claim.name, judge }
  const ready = (seen && judge(seen)) ?? (await waitForObject<SandboxClaim, SandboxClaim>(parts, wanted, signal))
  const sandbox = await parts.reader.sandboxOf(ready)
  if (sandbox === undefined) throw new WorkspaceError('WorkspaceLost', `the sandbox of ${nameClaim(claim)} is gone`)
  return sandbox
}

/** Those of this installation. */
export async function* listClaims(parts: ClaimParts): AsyncGenerator<ListedWorkspace> {
  try {
    yield* listAll(parts)
  } catch (error) {
    throw explainFault(error)
  }
}

async function* listAll(parts: ClaimParts): AsyncGenerator<ListedWorkspace> {
  const { claims: collection } = (await parts.reader.find()).collections
  const query = { labelSelector: `${labels.instance}=${parts.instance},${labels.component}=${component}` }
  for (const scope of listScopes(parts.namespaces)) {
    const { items } = await parts.api.request<{ items: SandboxClaim[] }>({ verb: 'list', collection, ...scope, query })
    for (const claim of items) {
      const createdAt = new Date(claim.metadata.creationTimestamp)
      yield { claim: readClaim(claim), state: judgeClaim(claim), createdAt }
    }
  }
}
