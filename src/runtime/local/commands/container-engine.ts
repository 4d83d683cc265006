// Finds a Docker-compatible engine by its sockets, talks to it, and reads the output of a container as it frames it:
// one stream for both, each frame with a head of eight bytes.
import { existsSync } from 'node:fs'
import type Docker from 'dockerode'
import { messageOf } from '../../../errors.ts'

export type ContainerEngineOptions = {
  /** As DOCKER_HOST: `unix:///path` or `tcp://host:port`. Replaces the usual sockets, even when it does not answer. */
  host?: string
  /** XDG_RUNTIME_DIR, for a rootless Podman. */
  runtimeDir?: string
  /** Sockets to try; default: the usual ones. */
  sockets?: string[]
}

export type EngineProbe =
  | { available: true; docker: Docker; name: string }
  | { available: false; reason: string; suggestion: string }

export type ContainerEngine = {
  /** Looks for an engine; keeps one that answered until a request to it fails. */
  find(): Promise<EngineProbe>
  /** Forgets the engine, so that the next `find` looks again. */
  forget(): void
}

export const startEngine =
  'start Docker (systemctl start docker) or Podman (systemctl --user start podman.socket), or set DOCKER_HOST to where an engine listens'

function listSockets(options: ContainerEngineOptions): string[] {
  const rootless =
    options.runtimeDir === undefined
      ? []
      : [`${options.runtimeDir}/podman/podman.sock`, `${options.runtimeDir}/docker.sock`]
  return options.sockets ?? ['/var/run/docker.sock', ...rootless, '/run/podman/podman.sock']
}

/** Loaded once there is an engine: it comes with 150 modules. */
async function openHost(host: string, timeout?: number): Promise<Docker> {
  const { default: Docker } = await import('dockerode')
  const limits = timeout === undefined ? {} : { timeout }
  if (host.startsWith('unix://')) return new Docker({ ...limits, socketPath: host.slice('unix://'.length) })
  if (host.startsWith('/')) return new Docker({ ...limits, socketPath: host })
  const url = new URL(host)
  const protocol = url.protocol === 'https:' ? 'https' : 'http'
  return new Docker({ ...limits, host: url.hostname, port: url.port || '2375', protocol })
}

const answerMs = 5000

async function tryHost(host: string): Promise<{ docker: Docker } | { problem: string }> {
  try {
    // The one that is kept has no timeout: waiting for a container may take hours.
    await (await openHost(host, answerMs)).ping()
    return { docker: await openHost(host) }
  } catch (error) {
    return { problem: `${host}: ${messageOf(error)}` }
  }
}

async function probeHosts(hosts: string[]): Promise<EngineProbe> {
  const problems: string[] = []
  for (const host of hosts) {
    const outcome = await tryHost(host)
    if ('docker' in outcome) return { available: true, docker: outcome.docker, name: host }
    problems.push(outcome.problem)
  }
  const reason =
    problems.length === 0
      ? 'No container engine is running here'
      : `No container engine answers (${problems.join('; ')})`
  return { available: false, reason, suggestion: startEngine }
}

export function createContainerEngine(options: ContainerEngineOptions): ContainerEngine {
  let found: Promise<EngineProbe> | undefined
  const look = async () => {
    const sockets = () => listSockets(options).filter((socket) => existsSync(socket))
    const probe = await probeHosts(options.host === undefined ? sockets() : [options.host])
    // An engine may be started later, so only success is cached.
    if (!probe.available) found = undefined
    return probe
  }
  return {
    find: () => {
      found ??= look()
      return found
    },
    forget: () => {
      found = undefined
    },
  }
}

type OutputFrame = { stream: 'stdout' | 'stderr'; chunk: Buffer }

const headLength = 8

/** Bytes read and not yet passed on, and how much is still missing of the current frame. */
type FrameState = { pending: Buffer; remaining: number; stream: OutputFrame['stream'] }

function readHead(state: FrameState): void {
  state.stream = state.pending[0] === 2 ? 'stderr' : 'stdout'
  state.remaining = state.pending.readUInt32BE(4)
  state.pending = state.pending.subarray(headLength)
}

/** The next part of a frame: a large frame is passed on in parts, not collected. */
function takeChunk(state: FrameState): OutputFrame | undefined {
  while (state.remaining === 0 && state.pending.length >= headLength) readHead(state)
  if (state.remaining === 0 || state.pending.length === 0) return undefined
  const chunk = state.pending.subarray(0, state.remaining)
  state.pending = state.pending.subarray(chunk.length)
  state.remaining -= chunk.length
  return { stream: state.stream, chunk }
}

/** Reads frames (Docker Engine API, "Stream format"), no faster than they are consumed. */
export async function* readFrames(source: AsyncIterable<Buffer | string>): AsyncGenerator<OutputFrame> {
  const state: FrameState = { pending: Buffer.alloc(0), remaining: 0, stream: 'stdout' }
  for await (const part of source) {
    state.pending = Buffer.concat([state.pending, Buffer.from(part as Buffer)])
    for (let frame = takeChunk(state); frame !== undefined; frame = takeChunk(state)) yield frame
  }
}
