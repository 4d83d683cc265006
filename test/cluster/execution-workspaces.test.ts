// Execution workspaces by agent-sandbox on a real cluster: pods that really run, behind a double of its controller.
import { describeExecutionWorkspaces } from '../contracts/execution-workspaces.contract.ts'
import { describeOnCluster } from '../fixtures/cluster.ts'
import { keepFiles, openSandboxes } from './sandboxes-bench.ts'

const readyMs = 60_000

describeOnCluster('agent-sandbox', () => {
  describeExecutionWorkspaces('agent-sandbox', async () => {
    const bench = await openSandboxes('v1beta1', { volumeCount: 30 })
    const { namespace, close } = bench
    await bench.addTemplate('lasting', keepFiles(namespace))
    const workspaces = bench.openWorkspaces({ graceSeconds: 1 })
    return { workspaces, namespace, template: { namespace, name: 'lasting' }, readyMs, close }
  })
})
