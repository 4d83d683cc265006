// Rounds of attempts in execution workspaces that are actors, of a double of their service.
import { randomBytes } from 'node:crypto'
import { describeWorkspaceRounds } from '../../contracts/workspace-rounds.contract.ts'
import { openActors, startActors } from '../../fixtures/actors/actors.ts'

describeWorkspaceRounds('actors', async () => {
  const double = await startActors({ workers: 40 })
  const key = randomBytes(32)
  const installation = 'rounds'
  return {
    provider: 'actor',
    namespace: 'team-a',
    template: { namespace: 'templates', name: 'agents' },
    endsOnClose: false,
    usualRounds: 100,
    openProvider() {
      const { workspaces, close } = openActors(double, { key, installation })
      return { workspaces, kill: close }
    },
    lose: ({ namespace, name }) => double.world.losePod({ atespace: namespace, name: `${name}-${installation}` }),
    async listLeft() {
      const busy = double.world.workers.filter(({ actor }) => actor !== undefined)
      return [...double.world.list().map(({ ref }) => ref.name), ...busy.map(({ node }) => `a worker of ${node}`)]
    },
    close: () => double.stop(),
  }
})
