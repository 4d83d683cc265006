// TLS of the listener: checks certificate and key before using them, and replaces them without closing connections.
import type { Server } from 'node:https'
import { createSecureContext } from 'node:tls'
import type { FastifyInstance } from 'fastify'
import { messageOf, SvcError } from '../errors.ts'

/** PEM texts; the certificate may be a chain. */
export type TlsPair = { cert: Buffer; key: Buffer }

/** TLS 1.0 and 1.1 are gone (RFC 8996). */
const minVersion = 'TLSv1.2'

/** InvalidRequest when the two are not a certificate and its key. The message never quotes the key. */
export function secureOptionsOf(pair: TlsPair): TlsPair & { minVersion: 'TLSv1.2' } {
  try {
    createSecureContext(pair)
  } catch (error) {
    throw new SvcError('InvalidRequest', `the TLS certificate and key cannot be used: ${messageOf(error)}`)
  }
  return { ...pair, minVersion }
}

/** New connections use the new certificate; open ones keep theirs. */
export function renewTls(server: FastifyInstance, pair: TlsPair): void {
  ;(server.server as unknown as Server).setSecureContext(secureOptionsOf(pair))
}
