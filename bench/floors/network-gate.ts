// The gate of one attempt in a process of its own, so that what it costs can be read: all names have one address, and all that may be
// reached leads to one port. A message is answered with what it has reported since the last one.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createNetworkGates } from '../../src/egress/network/gates.ts'

const [upstream = ''] = process.argv.slice(2)
const port = Number(new URL(upstream).port)
const delays = monitorEventLoopDelay({ resolution: 5 })
delays.enable()
let reports = 0
let refused = 0

const gates = createNetworkGates({
  policy: { allowNetworks: [], deny: [] },
  limits: { connections: 1000, bytes: Number.MAX_SAFE_INTEGER },
  report(_attempt, changed) {
    reports += changed.length
    for (const line of changed) refused = Math.max(refused, line.refused)
  },
  limit: () => undefined,
  end: async () => undefined,
  ask: async () => 'pending',
  resolve: async () => [{ address: '93.184.216.34', family: 4 }],
  redirect: () => ({ host: '127.0.0.1', port }),
})
const gate = await gates.open({
  key: { taskUid: 'bench', attempt: 1 },
  namespace: 'default',
  taskName: 'bench',
  rules: { allow: ['*.bench.example'], onUnknown: 'refuse', ports: [443] },
})
process.on('message', () => {
  process.send?.({ reports, refused, delayP99: delays.percentile(99) / 1e6 })
  reports = 0
  delays.reset()
})
process.on('disconnect', () => void gate.close().then(() => process.exit(0)))
process.send?.({ url: gate.socket })
