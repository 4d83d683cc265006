// Headers of the dashboard's files: its page runs its own files only, and no other page may hold it.

/** Sources of a policy, directive by directive; `connect` are origins besides the service's own. */
function policyOf(connect: readonly string[]): string {
  const directives = {
    'default-src': ["'none'"],
    'script-src': ["'self'"],
    'style-src': ["'self'"],
    'img-src': ["'self'", 'data:', 'blob:'],
    'font-src': ["'self'"],
    'connect-src': ["'self'", ...connect],
    'manifest-src': ["'self'"],
    'base-uri': ["'none'"],
    'form-action': ["'none'"],
    'frame-ancestors': ["'none'"],
    'require-trusted-types-for': ["'script'"],
  }
  return Object.entries(directives)
    .map(([name, sources]) => `${name} ${sources.join(' ')}`)
    .join('; ')
}

const unused = [
  'accelerometer',
  'camera',
  'display-capture',
  'geolocation',
  'gyroscope',
  'microphone',
  'payment',
  'usb',
]

/** They take the place of the headers for data. `connect`: origins of issuers where people sign in. */
export function pageHeadersOf(connect: readonly string[]): Readonly<Record<string, string>> {
  return {
    'content-security-policy': policyOf(connect),
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': unused.map((feature) => `${feature}=()`).join(', '),
  }
}
