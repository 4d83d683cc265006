// Headers that tell browsers: this is data, not a page, and must not be framed.

const always = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
}

/** Over TLS, browsers must also stay with TLS (RFC 6797). */
export function securityHeadersOf(isEncrypted: boolean): Readonly<Record<string, string>> {
  return isEncrypted ? { ...always, 'strict-transport-security': 'max-age=31536000' } : always
}
