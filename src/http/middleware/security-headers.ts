// What every answer tells a browser: this is data, not a page, and belongs into no frame.

const always = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
}

/** Over TLS browsers also keep to it (RFC 6797). */
export function securityHeadersOf(isEncrypted: boolean): Readonly<Record<string, string>> {
  return isEncrypted ? { ...always, 'strict-transport-security': 'max-age=31536000' } : always
}
