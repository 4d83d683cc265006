// Addresses of git repositories: read once, so that who may get a credential is judged by the host that is dialled.

const scp = /^[A-Za-z0-9_][A-Za-z0-9._-]*@([A-Za-z0-9.-]+):([^\s\0:][^\s\0]*)$/

function parse(text: string): URL | null {
  const [, host, path] = scp.exec(text) ?? []
  if (host !== undefined) return URL.parse(`https://${host}/${path?.replace(/^\/+/, '')}`)
  const url = /[\s\0]/.test(text) ? null : URL.parse(text)
  if (url === null || url.password !== '') return null
  if (/^https?:$/.test(url.protocol)) return url.username === '' ? url : null
  return url.protocol === 'ssh:' ? URL.parse(`https://${url.hostname}${url.pathname}`) : null
}

/**
 * What is dialled, without a trailing slash, query and fragment: `https://` or `http://`, as which `git@host:path` and
 * `ssh://` are dialled too. Undefined: not the address of a repository, or one with a login in it.
 */
export function readGitAddress(text: string): URL | undefined {
  const url = parse(text)
  if (url === null) return undefined
  url.search = ''
  url.hash = ''
  url.pathname = url.pathname.replace(/\/+$/, '')
  return url
}
