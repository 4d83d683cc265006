// Signals while the service starts: it ends at once. The first process of a container ignores what it does not handle
// (https://man7.org/linux/man-pages/man7/pid_namespaces.7.html), and would be waited for until it is killed.
import { constants } from 'node:os'

export const endSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** What a shell reports of a program that a signal ended. */
const signalCodeBase = 128

function exitAtOnce(signal: NodeJS.Signals): never {
  process.exit(signalCodeBase + constants.signals[signal])
}

/** Nothing was promised to anybody yet, so nothing is finished first. Asked for again it changes nothing. */
export function exitOnSignals(): void {
  keepOnSignals()
  for (const signal of endSignals) process.on(signal, exitAtOnce)
}

/** From now on signals are somebody else's. */
export function keepOnSignals(): void {
  for (const signal of endSignals) process.removeListener(signal, exitAtOnce)
}
