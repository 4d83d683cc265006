// Starts before anything else in a pod whose network is the gate, and ends once nothing else can be reached: a network plugin
// hears of a pod only when it has its address, and some enforce no policies at all. What is tried is the API of the cluster, which
// every pod reaches that no policy keeps from it, and what else is named: a policy may leave the internet alone.
import { type Helper, hardenedContainer, makeHelperResources } from './hardening.ts'
import type { Pod } from './objects.ts'

const guardName = 'network'

export type GateAddress = { host: string; port: number }

export const guardExits = { enforced: 0, missing: 3, unreachable: 4 } as const

/** For policies to take effect, and for the gate to be reached. */
const triesOfGuard = 40
export const guardSeconds = 25

const script = `
const [host, port, tries, ...more] = process.argv.slice(1)
const { connect } = require('node:net')
const reaches = (host, port) => new Promise((resolve) => {
  const socket = connect({ host, port: Number(port), timeout: 500 })
  const end = (is) => { socket.destroy(); resolve(is) }
  socket.once('connect', () => end(true)).once('error', () => end(false)).once('timeout', () => end(false))
})
const find = async (places) => {
  const reached = await Promise.all(places.map(([host, port]) => reaches(host, port)))
  return places.find((_, at) => reached[at])
}
const until = async (is, places) => {
  for (let left = Number(tries); left > 0; left -= 1) {
    if (((await find(places)) !== undefined) === is) return undefined
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
  return (await find(places)) ?? places[0]
}
const fail = (code, message) => {
  try { require('node:fs').writeFileSync('/dev/termination-log', message) } catch {}
  require('node:fs').writeSync(2, message + '\\n')
  process.exit(code)
}
const { env } = process
const { KUBERNETES_SERVICE_HOST: api, KUBERNETES_SERVICE_PORT: apiPort } = env
async function run() {
  if (await until(true, [[host, port]])) fail(${guardExits.unreachable}, 'the gate of the network, ' + host + ':' + port + ', cannot be reached')
  const outside = more.map((address) => address.split('|'))
  const found = await until(false, api === undefined ? outside : [[api, apiPort], ...outside])
  if (found === undefined) return
  if (found[0] === api) fail(${guardExits.missing}, 'no network policy is enforced: it reaches the API of the cluster')
  fail(${guardExits.missing}, 'no network policy keeps it from other hosts: it reaches ' + found.join(':'))
}
run()
`

/** `outside`: what it may not reach besides the API of the cluster. */
export function makeGuardCommand(
  { host, port }: GateAddress,
  { outside = [], tries = triesOfGuard }: { outside?: readonly GateAddress[]; tries?: number } = {},
): string[] {
  const options = ['--max-semi-space-size=1', '--max-old-space-size=32']
  const more = outside.map((address) => `${address.host}|${address.port}`)
  return ['node', ...options, '-e', script, host, String(port), String(tries), ...more]
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
