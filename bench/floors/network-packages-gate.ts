// The gate of one attempt that may reach whatever it asks for, in a process of its own. The names of the bench lead to a port of this
// machine, all others where they lead, be it to a mirror inside.

import { resolveName } from '../../src/egress/dialer.ts'
import { createNetworkGates } from '../../src/egress/network/gates.ts'

const [port = ''] = process.argv.slice(2)
const isOwn = (host: string) => host.endsWith('.bench.example')

const gates = createNetworkGates({
  policy: { allowNetworks: ['0.0.0.0/0', '::/0'], deny: [] },
  limits: { connections: 1000, bytes: Number.MAX_SAFE_INTEGER },
  report: () => undefined,
  limit: () => undefined,
  end: async () => undefined,
  ask: async () => 'pending',
  resolve: (host) =>
    isOwn(host) ? Promise.resolve([{ address: '93.184.216.34', family: 4 as const }]) : resolveName(host),
  redirect: ([first], target) =>
    isOwn(target.host)
      ? { host: '127.0.0.1', port: Number(port) }
      : { host: first?.address ?? target.host, port: target.port },
})
const gate = await gates.open({
  key: { taskUid: 'bench', attempt: 1 },
  namespace: 'default',
  taskName: 'bench',
  rules: { allow: [], onUnknown: 'allow', ports: [80, 443] },
})
process.on('disconnect', () => void gate.close().then(() => process.exit(0)))
process.send?.({ url: gate.socket })
