// The Sandbox port on one machine: bubblewrap, else a container engine, else a message that says what to install.
import { existsSync } from 'node:fs'
import { SvcError } from '../../../errors.ts'
import type { Ids } from '../../../lib/clock.ts'
import { hasCode } from '../../../lib/error-code.ts'
import type { Sandbox, SandboxAvailability, SandboxCommand, SandboxOutcome } from '../../../ports/workspaces/sandbox.ts'
import type { ContainerEngine } from '../commands/container-engine.ts'
import { type BubblewrapProbe, probeBubblewrap } from '../confinement/bubblewrap.ts'
import { type ControlGroups, findControlGroups } from '../confinement/control-groups.ts'
import { runInBubblewrap } from './bubblewrap-sandbox.ts'
import { runInContainer } from './container-sandbox.ts'

export type SandboxOptions = {
  ids: Ids
  /** The Node that runs JavaScript inside; default: the one that runs the service. */
  nodePath?: string
  /** Known answers; determined on first use when absent. */
  bubblewrap?: Promise<BubblewrapProbe>
  groups?: Promise<ControlGroups>
  /** Without bubblewrap: run in this image. */
  container?: { engine: ContainerEngine; image: string; instance: string; scratchRoot: string }
}

type SandboxRunner = {
  availability: SandboxAvailability
  run?: (command: SandboxCommand, signal: AbortSignal) => Promise<SandboxOutcome>
}

const containerLanguages = ['python', 'javascript', 'bash']

/** Python and bash are the machine's own; JavaScript comes with the service. */
function listLanguages(): string[] {
  const hasPython = ['/usr/bin/python3', '/usr/local/bin/python3'].some((file) => existsSync(file))
  const hasBash = ['/usr/bin/bash', '/bin/bash'].some((file) => existsSync(file))
  return [...(hasPython ? ['python'] : []), 'javascript', ...(hasBash ? ['bash'] : [])]
}

const groupPrefix = 'svc-exec'

/** A run's group name contains the pid of its creator: when that process is gone, a crash left the group. */
function isLeft(name: string): boolean {
  const [, pid] = new RegExp(`^${groupPrefix}-(\\d+)-`).exec(name) ?? []
  if (pid === undefined) return false
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return hasCode(error, 'ESRCH')
  }
}

async function chooseSandboxRunner(options: SandboxOptions): Promise<SandboxRunner> {
  const probe = await (options.bubblewrap ?? probeBubblewrap())
  const nextName = () => options.ids.next(`${groupPrefix}-${process.pid}`)
  if (probe.available) {
    const groups = await (options.groups ?? findControlGroups())
    await groups.reap(isLeft)
    const { bubblewrap } = probe
    const parts = { bubblewrap, groups, nodePath: options.nodePath ?? process.execPath, nextName }
    return {
      availability: { available: true, kind: 'bubblewrap', languages: listLanguages() },
      run: (command, signal) => runInBubblewrap(parts, command, signal),
    }
  }
  const unavailable: SandboxRunner = {
    availability: { available: false, reason: probe.reason, suggestion: probe.suggestion },
  }
  return options.container === undefined ? unavailable : chooseContainer(options.container, nextName, unavailable)
}

async function chooseContainer(
  container: NonNullable<SandboxOptions['container']>,
  nextName: () => string,
  otherwise: SandboxRunner,
): Promise<SandboxRunner> {
  const engine = await container.engine.find()
  if (!engine.available) return otherwise
  return {
    availability: { available: true, kind: 'container', languages: containerLanguages },
    run: (command, signal) => runInContainer({ ...container, docker: engine.docker, nextName }, command, signal),
  }
}

/** Checks once, on first use. */
export function createSandbox(options: SandboxOptions): Sandbox {
  let chosen: Promise<SandboxRunner> | undefined
  const choose = () => {
    chosen ??= chooseSandboxRunner(options)
    return chosen
  }
  return {
    check: async () => (await choose()).availability,
    run: async (command, signal) => {
      const { availability, run } = await choose()
      if (run !== undefined) return run(command, signal)
      const words = availability.available ? '' : `${availability.reason}: ${availability.suggestion}`
      throw new SvcError('NotConfigured', `No sandbox can be had on this machine. ${words}.`)
    },
  }
}
