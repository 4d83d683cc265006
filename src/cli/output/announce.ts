// What is said of a service that a command has started.

import { commandHint } from '../../client/command-hint.ts'
import type { StartedService } from '../../client/machine.ts'
import type { Terminal } from './terminal.ts'

export function announceService(started: StartedService, terminal: Terminal): void {
  const { url, pid, logFile, idleExit, wantedPort } = started
  terminal.note(`started a service at ${url} (pid ${pid}, log ${logFile})`)
  if (wantedPort !== 0 && new URL(url).port !== String(wantedPort))
    terminal.note(`port ${wantedPort} is taken by another program, so it is not there`)
  terminal.note(`it stops by itself after ${idleExit} without work; \`${commandHint('down')}\` stops it now`)
}

/** After an upgrade the service that runs is still the one from before. */
export function announceVersion(running: string, own: string, terminal: Terminal): void {
  terminal.note(`the service that runs is version ${running}, this is ${own}: \`${commandHint('down')}\` stops it`)
}
