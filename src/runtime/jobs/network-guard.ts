// Starts before anything else in a pod whose network is the gate, and ends once nothing else can be reached: a network plugin
// hears of a pod only when it has its address, and some enforce no policies at all. What is tried is the API of the cluster, which
// every pod reaches that no policy keeps from it.
import { type Helper, hardenedContainer, makeHelperResources } from './hardening.ts'
import type { Pod } from './objects.ts'

const guardName = 'network'

export type GateAddress = { host: string; port: number }

export const guardExits = { enforced: 0, missing: 3, unreachable: 4 } as const

/** For policies to take effect, and for the gate to be reached. */
const triesOfGuard = 40
export const guardSeconds = 25

const script = `
const [host, port, tries] = process.argv.slice(1)
const { connect } = require('node:net')
const reaches = (host, port) => new Promise((resolve) => {
  const socket = connect({ host, port: Number(port), timeout: 500 })
  const end = (is) => { socket.destroy(); resolve(is) }
  socket.once('connect', () => end(true)).once('error', () => end(false)).once('timeout', () => end(false))
})
const until = async (is, host, port) => {
  for (let left = Number(tries); left > 0; left -= 1) {
    if ((await reaches(host, port)) === is) return true
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
  return false
}
const fail = (code, message) => { require('node:fs').writeFileSync('/dev/termination-log', message); process.exit(code) }
const { env } = process
const { KUBERNETES_SERVICE_HOST: api, KUBERNETES_SERVICE_PORT: apiPort } = env
async function run() {
  if (!(await until(true, host, port))) fail(${guardExits.unreachable}, 'the gate of the network, ' + host + ':' + port + ', cannot be reached')
  if (!(await until(false, api, apiPort))) fail(${guardExits.missing}, 'no network policy is enforced: it reaches the API of the cluster')
}
run()
`

export function makeGuardCommand({ host, port }: GateAddress): string[] {
  const options = ['--max-semi-space-size=1', '--max-old-space-size=32']
  return ['node', ...options, '-e', script, host, String(port), String(triesOfGuard)]
}

/** `asWritten` keeps the kubelet from expanding texts. */
export function makeGuard({ image, limits }: Helper, gate: GateAddress, asWritten: (text: string) => string) {
  return {
    name: guardName,
    image,
    imagePullPolicy: 'IfNotPresent',
    command: makeGuardCommand(gate).map(asWritten),
    resources: makeHelperResources(limits),
    securityContext: hardenedContainer,
  }
}

/** Why the pod was not let begin. */
export function readGuardFailure({ status }: Pod): string | undefined {
  const ended = status?.initContainerStatuses?.find(({ name }) => name === guardName)?.state?.terminated
  if (ended === undefined || ended.exitCode === 0) return undefined
  return ended.message ?? `the guard of its network ended with exit code ${ended.exitCode}`
}
