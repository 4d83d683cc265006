// What a client begins a tunnel with: only what can be judged by the name that it asked for goes on.
import { normalizeHost } from '../../contract/values/network-names.ts'
import { readClientHello } from './client-hello.ts'

/** `raw`: no protocol that names another host. `http`: each of its requests is judged. `refuse`: nothing is passed on. */
type FirstBytes = 'wait' | 'raw' | 'http' | { refuse: string }

const maxMethodLength = 32
/** Ports of servers that read nothing but the protocols below. */
const httpPorts = [80, 443]

function judgeHello(bytes: Buffer, host: string, isName: boolean): FirstBytes {
  const hello = readClientHello(bytes)
  if (hello === 'wait') return 'wait'
  if (hello === 'bad') return { refuse: 'its TLS greeting cannot be read' }
  const { serverName } = hello
  if (serverName === undefined) return isName ? { refuse: 'its TLS greeting names no server' } : 'raw'
  return normalizeHost(serverName) === host ? 'raw' : { refuse: 'its TLS greeting names another server' }
}

/** RFC 9112 section 2.2: servers pass over empty lines before a request. */
const requestStart = /^[\r\n]*([!#$%&'*+.^_`|~0-9A-Za-z-]*)([\s\S]?)/

export function judgeFirstBytes(
  bytes: Buffer,
  { host, port, isName }: { host: string; port: number; isName: boolean },
): FirstBytes {
  if (bytes.length === 0) return 'wait'
  if (bytes[0] === 22) return judgeHello(bytes, host, isName)
  const text = bytes.toString('latin1', 0, 256)
  return judgeSsh(text, port) ?? judgeRequest(text, port)
}

/** Undefined: it may be something else. */
function judgeSsh(text: string, port: number): FirstBytes | undefined {
  if (port !== 22 && !(port === 443 && text.startsWith('S'))) return undefined
  if ('SSH-'.startsWith(text.slice(0, 4))) return text.length < 4 ? 'wait' : 'raw'
  return port === 22 ? { refuse: 'it does not begin as SSH does' } : undefined
}

function judgeRequest(text: string, port: number): FirstBytes {
  const [, method = '', next = ''] = requestStart.exec(text) ?? []
  if (next === '' && method.length <= maxMethodLength && text.length < 256) return 'wait'
  if (method === 'PRI') return { refuse: 'HTTP/2 without TLS names a host in each of its streams' }
  if (method !== '' && (next === ' ' || next === '\t')) return 'http'
  return httpPorts.includes(port) ? { refuse: 'it begins neither as TLS nor as HTTP does' } : 'raw'
}
