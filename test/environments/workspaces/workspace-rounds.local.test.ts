// Rounds of attempts in execution workspaces of this machine.
import { existsSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder, removeFolder } from '../../contracts/embedded-bench.ts'
import { openLocalWorkspaces } from '../../contracts/local-workspaces-bench.ts'
import { describeWorkspaceRounds } from '../../contracts/workspace-rounds.contract.ts'

/** The folders of namespaces stay. */
function listLeft(root: string): string[] {
  return readdirSync(root).flatMap((namespace) => readdirSync(join(root, namespace)))
}

describeWorkspaceRounds('this machine', async () => {
  const root = makeFolder('rounds')
  const lost = makeFolder('rounds-lost')
  return {
    provider: 'agent-sandbox',
    namespace: 'default',
    template: { namespace: 'default', name: 'default' },
    endsOnClose: true,
    usualRounds: 200,
    openProvider(worker) {
      const workspaces = openLocalWorkspaces(root, { worker: ['/bin/sh', '-c', worker, 'worker'] })
      return { workspaces, kill: () => workspaces.close() }
    },
    async lose({ namespace, name }) {
      const folder = join(root, namespace, name)
      if (existsSync(folder)) renameSync(folder, join(lost, name))
    },
    listLeft: async () => listLeft(root),
    async close() {
      for (const folder of [root, lost]) removeFolder(folder)
    },
  }
})
