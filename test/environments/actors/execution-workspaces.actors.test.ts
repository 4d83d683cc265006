// Execution workspaces that are actors, of a double of their service.

import { describeExecutionWorkspaces } from '../../contracts/execution-workspaces.contract.ts'
import { openActors, startActors } from '../../fixtures/actors/actors.ts'

describeExecutionWorkspaces('actors', async () => {
  const double = await startActors()
  const { workspaces, close } = openActors(double)
  return {
    workspaces,
    namespace: 'team-a',
    template: { namespace: 'templates', name: 'agents' },
    readyMs: 20_000,
    async close() {
      await close()
      await double.stop()
    },
  }
})
