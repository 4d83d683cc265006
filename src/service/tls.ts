// The TLS files of `--tls-cert-file` and `--tls-key-file`: read at the start, and again when they change.
import { readFile } from 'node:fs/promises'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../config/load.ts'
import { messageOf, SvcError } from '../errors.ts'
import { createWorkerListener } from '../http/listeners.ts'
import { renewTls, secureOptionsOf, type TlsPair } from '../http/tls.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../observability/log.ts'
import type { Listening } from './addresses.ts'

export type TlsFiles = { certFile: string; keyFile: string }

/** Undefined without TLS. InvalidRequest for one file without the other. */
export function tlsFilesOf({ tlsCertFile, tlsKeyFile }: Config): TlsFiles | undefined {
  if (tlsCertFile === undefined && tlsKeyFile === undefined) return undefined
  if (tlsCertFile !== undefined && tlsKeyFile !== undefined) return { certFile: tlsCertFile, keyFile: tlsKeyFile }
  throw new SvcError('InvalidRequest', 'bad configuration: --tls-cert-file and --tls-key-file need each other')
}

/** InvalidRequest when a file cannot be read or the certificate and the key do not match. */
export async function readTls({ certFile, keyFile }: TlsFiles): Promise<TlsPair> {
  try {
    const [cert, key] = await Promise.all([readFile(certFile), readFile(keyFile)])
    secureOptionsOf({ cert, key })
    return { cert, key }
  } catch (error) {
    throw new SvcError('InvalidRequest', `bad TLS files ${certFile}, ${keyFile}: ${messageOf(error)}`)
  }
}

/** The files of a mounted Secret change by swapping a link, which file watchers do not always notice, so they are polled. */
const lookMs = 5000

export type TlsWatch = {
  files: TlsFiles
  /** The pair in use. */
  current: TlsPair
  clock: Clock
  log: Logger
  renew(pair: TlsPair): void
  everyMs?: number
}

/** Runs until the signal aborts. While a new pair cannot be used, for example because it is half written, the old one stays. */
export async function watchTls(watch: TlsWatch, signal: AbortSignal): Promise<void> {
  const { files, clock, log, renew, everyMs = lookMs } = watch
  let { current } = watch
  let reported = ''
  const look = async () => {
    const next = await readTls(files)
    if (next.cert.equals(current.cert) && next.key.equals(current.key)) return
    renew(next)
    current = next
    reported = ''
    log.info({ file: files.certFile }, 'the TLS certificate was renewed')
  }
  while (!signal.aborted) {
    await clock.sleep(everyMs, signal).catch(() => undefined)
    if (signal.aborted) return
    await look().catch((error: unknown) => {
      const message = messageOf(error)
      if (message !== reported) log.warn({ error: message }, 'the new TLS files cannot be used; the old ones stay')
      reported = message
    })
  }
}

export type OpenedTls = {
  pair: TlsPair
  /**
   * Renews the server's certificate when its files change; with `listening`, workers get a listener of their own.
   * Resolves to the function that ends this.
   */
  follow(server: FastifyInstance, listening: Listening | undefined): Promise<() => Promise<void>>
}

async function listenForWorkers(app: FastifyInstance, listening: Listening): Promise<Server> {
  const server = createWorkerListener(app)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  listening.workerPort = (server.address() as AddressInfo).port
  return server
}

/** Undefined without TLS. */
export async function openTls(
  config: Config,
  { clock, log }: Pick<TlsWatch, 'clock' | 'log'>,
): Promise<OpenedTls | undefined> {
  const files = tlsFilesOf(config)
  if (files === undefined) return undefined
  const pair = await readTls(files)
  return {
    pair,
    async follow(app, listening) {
      const ending = new AbortController()
      const renew = (next: TlsPair) => renewTls(app, next)
      const watching = watchTls({ files, current: pair, clock, log: log.child({ name: 'tls' }), renew }, ending.signal)
      const workers = listening && (await listenForWorkers(app, listening))
      return async () => {
        ending.abort()
        workers?.close()
        workers?.closeAllConnections()
        await watching
      }
    },
  }
}
