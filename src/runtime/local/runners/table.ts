// The runners that the service has now, by their credentials and by the attempts that they run.
import { hash } from 'node:crypto'
import { type AttemptRef, runnerLimits, runnerProtocol } from '../../../contract/api/tasks/runners.ts'
import { SvcError } from '../../../errors.ts'
import type { Ids } from '../../../lib/clock.ts'
import type { RunnerIdentity, Runners } from '../../../ports/tasks/runners.ts'
import { lost, type RunnerLink } from './link.ts'

export type RunnerTable = Runners & {
  /** Returns what takes it away again. */
  add(link: RunnerLink): () => void
}

/** A look-up by the digest tells nobody how much of a guess was right. */
function digest(token: string): string {
  return hash('sha256', token)
}

export function createRunnerTable(ids: Ids): RunnerTable {
  const byCredential = new Map<string, RunnerLink>()
  const list = () => [...byCredential.values()]

  function findOwn({ runner }: RunnerIdentity, id: string): RunnerLink {
    const link = list().find(({ name }) => name === runner)
    if (link?.id === id) return link
    throw new SvcError('NotFound', 'the lease of this runner has ended, and every attempt with it')
  }

  const holderOf = (key: AttemptRef) => list().find((link) => link.has(key))

  return {
    add(link) {
      const key = digest(link.credential)
      byCredential.set(key, link)
      return () => void byCredential.delete(key)
    },
    identify(token) {
      const link = byCredential.get(digest(token))
      return link && { runner: link.name }
    },
    register({ runner }, registration) {
      if (registration.protocol !== runnerProtocol) {
        const versions = `version ${runnerProtocol} of the protocol, and this runner version ${registration.protocol}`
        throw new SvcError('Conflict', `the service speaks ${versions}; install the same release of both`)
      }
      const id = ids.next('runner')
      list()
        .find(({ name }) => name === runner)
        ?.register(id, registration)
      return { id, leaseMs: runnerLimits.leaseMs, renewMs: runnerLimits.renewMs }
    },
    readWork: (identity, id) => findOwn(identity, id).openWork(),
    renew: (identity, id, renewal) => ({ leaseMs: runnerLimits.leaseMs, drop: findOwn(identity, id).renew(renewal) }),
    drain(identity, id, attempts) {
      const link = findOwn(identity, id)
      link.retire()
      for (const key of attempts) link.finish(key, lost(false, 'its runner drains'))
    },
    end: (key, end) => holderOf(key)?.hear(key, end),
    folderOf: (key) => holderOf(key)?.folderOf(key),
  }
}
