// Where the programs of a claim run: remembered, so that a script costs no look at the claim and its sandbox.

import type { ResourceKey } from '../../ports/resources/resources.ts'
import { WorkspaceError } from '../../ports/workspaces/execution-workspaces.ts'
import { type ClaimParts, nameClaim } from './claims.ts'
import { podNameOf } from './lifecycle.ts'
import { chooseContainer, isSuspended, type Sandbox } from './objects.ts'
import type { SandboxPlace } from './shell.ts'

export type Found = { sandbox: Sandbox; place: SandboxPlace }

export type Places = {
  remember(claim: ResourceKey, sandbox: Sandbox): Found
  forget(claim: ResourceKey): void
  /** Where it was at the last visit; where it is now, when that is gone. WorkspaceLost where nothing runs. */
  visit<T>(claim: ResourceKey, work: (found: Found) => Promise<T>): Promise<T>
}

/** Another replica may delete a claim that is remembered here. */
const most = 2000

function locate(sandbox: Sandbox): Found {
  const { namespace, name } = sandbox.metadata
  const container = chooseContainer(sandbox.spec ?? {})?.name ?? name
  const [podIP] = sandbox.status?.podIPs ?? []
  return { sandbox, place: { namespace, sandbox: name, pod: podNameOf(sandbox), container, podIP } }
}

async function look({ reader }: Pick<ClaimParts, 'reader'>, key: ResourceKey): Promise<Found> {
  const claim = await reader.claim(key)
  const sandbox = claim && (await reader.sandboxOf(claim))
  if (sandbox !== undefined && !isSuspended(sandbox)) return locate(sandbox)
  throw new WorkspaceError('WorkspaceLost', `${nameClaim(key)} has no sandbox that runs`)
}

function isLost(error: unknown): boolean {
  return error instanceof WorkspaceError && error.reason === 'WorkspaceLost'
}

export function createPlaces(parts: Pick<ClaimParts, 'reader'>): Places {
  const known = new Map<string, Found>()

  function keep(claim: ResourceKey, found: Found): void {
    const name = nameClaim(claim)
    known.delete(name)
    known.set(name, found)
    const [oldest] = known.keys()
    if (known.size > most && oldest !== undefined) known.delete(oldest)
  }

  async function visitFound<T>(claim: ResourceKey, found: Found, work: (found: Found) => Promise<T>): Promise<T> {
    const answer = await work(found)
    keep(claim, found)
    return answer
  }

  async function visit<T>(claim: ResourceKey, work: (found: Found) => Promise<T>): Promise<T> {
    const before = known.get(nameClaim(claim))
    if (before === undefined) return visitFound(claim, await look(parts, claim), work)
    try {
      return await work(before)
    } catch (error) {
      known.delete(nameClaim(claim))
      if (!isLost(error)) throw error
      const now = await look(parts, claim)
      if (now.place.pod === before.place.pod) throw error
      return visitFound(claim, now, work)
    }
  }

  return {
    visit,
    remember(claim, sandbox) {
      const found = locate(sandbox)
      keep(claim, found)
      return found
    },
    forget: (claim) => void known.delete(nameClaim(claim)),
  }
}
