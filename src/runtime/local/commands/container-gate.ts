// The way out of a container that has no network: a second one, whose network it shares, leads from a port of their loopback to the gate.
// It runs the Node of the service, with all that this is linked with, so that the image needs nothing.
import { execFile } from 'node:child_process'
import { basename } from 'node:path'
import { promisify } from 'node:util'
import type Docker from 'dockerode'
import { gatePort } from '../../../contract/values/proxy-variables.ts'
import { once } from '../../../lib/once.ts'
import type { NetworkGate } from '../../../ports/workspaces/network-gates.ts'
import { forwarderArguments, gateFolderInside, gateSocketInside } from '../../network/forwarder.ts'
import { StartRefused } from '../attempt.ts'
import { readFrames } from './container-engine.ts'

/** Whether containers can have a gate: the engine has to see the sockets and programs of this machine. */
export const canGateContainers = process.platform === 'linux'

/** A virtual machine, as Docker Desktop has one on Linux too, shows files of this machine, but leads to none of its sockets. */
const engineAdvice =
  'The engine has to run on the machine of the service, under Linux, and not in a virtual machine as Docker Desktop does: install Docker Engine or Podman there ' +
  'and name its socket with --container-socket, or give the task the network "open"'

/** Why a network cannot be limited here, and what to do. */
export function explainUngated(isContainer: boolean): string {
  if (isContainer) return `The network of a container cannot be limited on this machine. ${engineAdvice}`
  const advice = 'install bubblewrap (on Linux), or give the task the network "open"'
  return `The network of a program without a sandbox cannot be limited; ${advice}`
}

const nodeInGate = `${gateFolderInside}/node`
const librariesInGate = `${gateFolderInside}/lib`

/** Absolute paths of what the service's Node is linked with, its loader among them. */
const listLibraries = once(async () => {
  const script =
    'process.report.excludeNetwork = true; console.log(JSON.stringify(process.report.getReport().sharedObjects))'
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], { env: {}, cwd: '/' })
  return (JSON.parse(stdout) as string[]).filter((path) => path.startsWith('/'))
})

/** How the image's own loader and libraries stay out of it. */
function composeForwarder(libraries: string[]): string[] {
  const forwarder = [nodeInGate, ...forwarderArguments({ [gatePort]: gateSocketInside })]
  const loader = libraries.map((path) => basename(path)).find((name) => name.startsWith('ld-'))
  return loader === undefined
    ? forwarder
    : [`${librariesInGate}/${loader}`, '--library-path', librariesInGate, ...forwarder]
}

/** The container that another one shares the network of; `container`: what both have. */
export async function describeGateContainer(
  gate: Pick<NetworkGate, 'socket'>,
  container: Docker.ContainerCreateOptions,
): Promise<Docker.ContainerCreateOptions> {
  const libraries = await listLibraries()
  const files = [
    [process.execPath, nodeInGate],
    [gate.socket, gateSocketInside],
    ...libraries.map((path) => [path, `${librariesInGate}/${basename(path)}`]),
  ]
  return {
    ...container,
    Entrypoint: composeForwarder(libraries),
    WorkingDir: '/',
    Env: [],
    // Of no image's users: it may read what is shown to it and nothing else.
    User: '65534:65534',
    HostConfig: {
      ...container.HostConfig,
      NetworkMode: 'none',
      Binds: files.map(([source, target]) => `${source}:${target}:ro`),
    },
  }
}

/** Starts it; once it says so, its port leads outside. */
export async function startGateContainer(container: Docker.Container): Promise<void> {
  const source = await container.attach({ stream: true, stdout: true, stderr: true })
  await container.start()
  let printed = ''
  for await (const { chunk } of readFrames(source as AsyncIterable<Buffer>)) {
    printed = `${printed}${chunk}`.slice(0, 500)
    if (printed.endsWith('ready')) return
  }
  const what = printed === '' ? 'its forwarder ended without a word' : printed
  throw new StartRefused('StartFailed', `The network of the container could not be set up (${what}). ${engineAdvice}`)
}
