// The signature of a delivery: HMAC-SHA256 over the bytes of the body
// (https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries).
import { createHmac, timingSafeEqual } from 'node:crypto'

const shape = /^sha256=[0-9a-f]{64}$/i

/** Whether a header can be a signature at all; if not, there is no need to read the body. */
export function isSignature(header: string | undefined): header is string {
  return header !== undefined && shape.test(header)
}

/** Whether the body was signed with one of the secrets. Takes as long for each wrong signature. */
export function verifySignature(body: Uint8Array, header: string | undefined, secrets: readonly string[]): boolean {
  if (!isSignature(header)) return false
  const given = Buffer.from(header.slice('sha256='.length), 'hex')
  const fits = secrets.map((secret) => timingSafeEqual(createHmac('sha256', secret).update(body).digest(), given))
  return fits.includes(true)
}
