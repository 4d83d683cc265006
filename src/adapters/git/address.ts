// Addresses of repositories, as they are dialled: by HTTP, whatever they are written as.
import { CheckoutError } from '../../ports/checkouts.ts'

const scp = /^[A-Za-z0-9_][A-Za-z0-9._-]*@([A-Za-z0-9.-]+):([^\s\0:][^\s\0]*)$/

function unsupported(): CheckoutError {
  const message = 'The address of the repository is not one that can be used. Write it as https://host/owner/repo.'
  return new CheckoutError('AddressUnsupported', message)
}

/** The address to dial, without a trailing slash. Logins are sent over HTTPS, also for addresses of SSH. */
export function readAddress(text: string): URL {
  const [, host, path] = scp.exec(text) ?? []
  const written = host === undefined ? text : `https://${host}/${path?.replace(/^\/+/, '')}`
  const url = URL.parse(written)
  if (url === null || !['http:', 'https:', 'ssh:'].includes(url.protocol)) throw unsupported()
  const dialled = url.protocol === 'ssh:' ? URL.parse(`https://${url.hostname}${url.pathname}`) : url
  if (dialled === null || dialled.password !== '' || dialled.username !== '') throw unsupported()
  dialled.search = ''
  dialled.hash = ''
  dialled.pathname = dialled.pathname.replace(/\/+$/, '')
  return dialled
}
