// What is said of a service that a command has started.
import type { Client } from '../../client/client.ts'
import { commandHint } from '../../client/command-hint.ts'
import type { StartedService } from '../../client/machine.ts'
import { getProvider } from '../../contract/api/providers/providers.ts'
import type { Terminal } from './terminal.ts'

export function announceService(started: StartedService, terminal: Terminal): void {
  const { url, pid, logFile, idleExit, wantedPort } = started
  terminal.note(`started a service at ${url} (pid ${pid}, log ${logFile})`)
  if (wantedPort !== 0 && new URL(url).port !== String(wantedPort))
    terminal.note(`port ${wantedPort} is taken by another program, so it is not there`)
  terminal.note(`it stops by itself after ${idleExit} without work; \`${commandHint('down')}\` stops it now`)
}

/** Where the key of this very shell answers: another shell may start a service that lacks it. */
export async function announceShellKey(client: Client, keys: readonly string[], terminal: Terminal): Promise<void> {
  if (keys.length === 0) return
  const provider = await client.call(getProvider, { params: { name: 'default' } }).catch(() => undefined)
  const key = provider?.spec.secretRef?.name === 'environment' ? provider.spec.secretRef.key : undefined
  if (key === undefined || !keys.includes(key)) return
  const keep = commandHint(`provider update default --key-from-env ${key}`)
  terminal.note(
    `it answers with ${key} of this shell, and does not store it: a service that another shell starts lacks it`,
  )
  terminal.note(`\`${keep}\` stores the key, encrypted; \`${commandHint('provider delete default')}\` undoes that`)
}

/** After an upgrade the service that runs is still the one from before. */
export function announceVersion(running: string, own: string, terminal: Terminal): void {
  terminal.note(`the service that runs is version ${running}, this is ${own}: \`${commandHint('down')}\` stops it`)
}
