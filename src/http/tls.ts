// TLS of the listener: certificate and key, checked before they are used, and changed under connections that stay.
import type { Server } from 'node:https'
import { createSecureContext } from 'node:tls'
import type { FastifyInstance } from 'fastify'
import { messageOf, SvcError } from '../errors.ts'

/** PEM texts; the certificate may be a chain. */
export type TlsPair = { cert: Buffer; key: Buffer }

/** TLS 1.0 and 1.1 are gone (RFC 8996). */
const minVersion = 'TLSv1.2'

/** InvalidRequest when the two are no certificate and its key. Never with a word of the key. */
export function secureOptionsOf(pair: TlsPair): TlsPair & { minVersion: 'TLSv1.2' } {
  try {
    createSecureContext(pair)
  } catch (error) {
    throw new SvcError('InvalidRequest', `the TLS certificate and key cannot be used: ${messageOf(error)}`)
  }
  return { ...pair, minVersion }
}

/** New connections get the new certificate; those that are open stay as they are. */
export function renewTls(server: FastifyInstance, pair: TlsPair): void {
  ;(server.server as unknown as Server).setSecureContext(secureOptionsOf(pair))
}
