// The port that a service listens on: the one of the settings, so that its address is the same every time.
import { createServer } from 'node:net'
import type { Config } from '../config/load.ts'

/** How many after the usual one are tried: addresses that stay near are recognized. */
const tries = 20

/**
 * The port of the settings. Where nobody chose one and another program has it: the next free one after it, or 0 when there is
 * none, which lets the system choose.
 */
export async function choosePort({ host, port, mode, sources }: Pick<Config, 'host' | 'port' | 'mode' | 'sources'>) {
  if (mode !== 'embedded' || sources.port !== 'default') return port
  for (let candidate = port; candidate <= port + tries; candidate += 1) {
    if ((await tryListening(host, candidate)) !== 'EADDRINUSE') return candidate
  }
  return 0
}

/** Rejects with what the system says where nothing can listen at a port that somebody chose. */
export async function requirePort({ host, port, sources }: Pick<Config, 'host' | 'port' | 'sources'>): Promise<void> {
  const code = sources.port === 'default' ? undefined : await tryListening(host, port)
  if (code !== undefined) throw Object.assign(new Error(`port ${port} of ${host}: ${code}`), { code })
}

export async function canListen(host: string, port: number): Promise<boolean> {
  return (await tryListening(host, port)) === undefined
}

/** The code of what is in the way. */
function tryListening(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown'))
    probe.listen(port, host, () => probe.close(() => resolve(undefined)))
  })
}
