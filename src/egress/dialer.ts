// Opens connections: resolves a name, judges every address, and dials only judged ones (no second look-up: DNS
// rebinding).
import { lookup as lookupName } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { Agent, buildConnector } from 'undici'
import { SvcError } from '../errors.ts'
import { portOf } from '../lib/url-port.ts'
import type { EgressPolicy } from '../ports/service/egress.ts'
import { isDenied, normalizeAddress, refuseAddress } from './destination.ts'

export type ResolvedAddress = { address: string; family: number }
export type Resolve = (hostname: string) => Promise<ResolvedAddress[]>

/** undici takes 75 ms to load, so it is loaded with the first call. */
export const loadUndici = () => import('undici')

export const resolveName: Resolve = (hostname) => lookupName(hostname, { all: true })

/** The kernel is asked no more often, as it takes as long as all else that is judged of a connection. */
const ownAddressesMs = 1000
let ownAddresses: { found: string[]; at: number } | undefined

export function listOwnAddresses(): string[] {
  if (ownAddresses !== undefined && performance.now() - ownAddresses.at < ownAddressesMs) return ownAddresses.found
  const interfaces = Object.values(networkInterfaces()).flatMap((entries) => entries ?? [])
  const found = interfaces.flatMap((entry) => normalizeAddress(entry.address) ?? [])
  ownAddresses = { found, at: performance.now() }
  return found
}

async function resolveHost(hostname: string, resolve: Resolve): Promise<ResolvedAddress[]> {
  const literal = normalizeAddress(hostname)
  if (literal !== undefined) return [{ address: literal, family: literal.includes(':') ? 6 : 4 }]
  const addresses = await resolve(hostname)
  if (addresses.length === 0) throw Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' })
  return addresses
}

type Destination = { protocol?: string | undefined; hostname: string; port: number }

function originOf({ protocol = 'http:', hostname, port }: Destination): string | undefined {
  const host = hostname.includes(':') && !hostname.startsWith('[') ? `[${hostname}]` : hostname
  return URL.parse(`${protocol}//${host}:${port}`)?.origin
}

/** The addresses of a host that may be dialled. Forbidden when there is none. */
export async function findPermitted(
  destination: Destination,
  policy: EgressPolicy,
  resolve: Resolve,
): Promise<ResolvedAddress[]> {
  const { hostname, port } = destination
  const machine = { deny: policy.deny, ownAddresses: listOwnAddresses() }
  const isTrusted = policy.trusted !== undefined && policy.trusted === originOf(destination)
  const rules = { allowNetworks: policy.allowNetworks, isTrusted }
  const judged = (await resolveHost(hostname, resolve)).map((resolved) => {
    const isOwn = isDenied(hostname, port, machine) || isDenied(resolved.address, port, machine)
    return { resolved, why: isOwn ? 'belongs to the service itself' : refuseAddress(resolved.address, rules) }
  })
  const permitted = judged.flatMap(({ resolved, why }) => (why === undefined ? [resolved] : []))
  const [first] = judged
  if (permitted.length > 0 || first === undefined) return permitted
  throw refuseDial(hostname, first.resolved.address, first.why ?? '')
}

function refuseDial(hostname: string, address: string, why: string): SvcError {
  const shown = normalizeAddress(hostname) === undefined ? `${hostname} (${address})` : hostname
  return new SvcError(
    'Forbidden',
    `The request to ${shown} was refused: it ${why}. The owner of the service can allow networks with --allow-network.`,
  )
}

/** Answers any look-up with the judged addresses. */
export function pinLookup(addresses: ResolvedAddress[]): LookupFunction {
  return (_hostname, options, callback) => {
    const [first] = addresses
    if (options.all) callback(null, addresses)
    else callback(null, first?.address ?? '', first?.family)
  }
}

/** What is dialled in place of the URL's own host, and the rules that hold there. */
function chooseEnd(options: buildConnector.Options, policy: EgressPolicy) {
  if (policy.via === undefined) return { options, policy }
  const { protocol, hostname, host, port } = new URL(policy.via)
  return {
    options: { ...options, protocol, hostname, host, port, servername: hostname },
    policy: { ...policy, trusted: policy.via },
  }
}

/** Dials under one policy, for undici's agents and pools. Ignores proxy settings in the environment. */
export async function createConnector(outerPolicy: EgressPolicy, resolve: Resolve): Promise<buildConnector.connector> {
  const { buildConnector } = await loadUndici()
  return (requested, callback) => {
    const { options, policy } = chooseEnd(requested, outerPolicy)
    findPermitted(
      { protocol: options.protocol, hostname: options.hostname, port: portOf(options) },
      policy,
      resolve,
    ).then(
      (addresses) => {
        const dial = buildConnector({
          lookup: pinLookup(addresses),
          autoSelectFamily: true,
          allowH2: false,
          timeout: 10_000,
        })
        dial(options, callback)
      },
      (error: Error) => callback(error, null),
    )
  }
}

/** An undici agent that dials under one policy. */
export async function createDialer(policy: EgressPolicy, resolve: Resolve): Promise<Agent> {
  const { Agent } = await loadUndici()
  const connect = await createConnector(policy, resolve)
  return new Agent({ connect, headersTimeout: 600_000, bodyTimeout: 600_000 })
}
