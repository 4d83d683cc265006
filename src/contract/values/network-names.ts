// Names of hosts, as allowlists of the network write them and as programs ask for them: one spelling for each.

/** A host and a port, as a program asks for them, or a pattern of them. */
export type HostName = {
  /** In lower case, in the spelling that DNS uses, without a trailing dot; an address without brackets. */
  host: string
  /** Absent: any port that is allowed at all. */
  port?: number
  /** It stands for every name below it, and not for itself. */
  isSuffix?: true
}

const maxNameLength = 253
const label = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/
const decimalAddress = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/

/** As URLs write it: Unicode as punycode, addresses in their shortest spelling. */
function readUrlHost(host: string): string | undefined {
  return URL.canParse(`http://${host}/`) ? new URL(`http://${host}/`).hostname : undefined
}

function readIPv6(text: string): string | undefined {
  const host = readUrlHost(`[${text}]`)?.slice(1, -1)
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(host ?? '') ?? []
  if (high === undefined || low === undefined) return host
  return [high, low]
    .map((part) => Number.parseInt(part, 16))
    .flatMap((part) => [part >> 8, part & 255])
    .join('.')
}

function readName(text: string): string | undefined {
  const name = readUrlHost(text.endsWith('.') ? text.slice(0, -1) : text) ?? ''
  const isName = name.length <= maxNameLength && name.split('.').every((each) => label.test(each))
  // Others than four decimal numbers are spellings of an address that hide it.
  return isName && !decimalAddress.test(name) ? name : undefined
}

/**
 * One spelling for each host, an address that is mapped from IPv4 as that. Undefined for what is neither a name of DNS nor an
 * address in its usual spelling: not for `0x7f.1`, `127.1` or an address with a zone, which belongs to one machine.
 */
export function normalizeHost(text: string): string | undefined {
  if (text.length > 4 * maxNameLength || /[\s%/\\?#@]/.test(text)) return undefined
  const bare = /^\[[^\]]*\]$/.test(text) ? text.slice(1, -1) : text
  if (bare.includes(':')) return readIPv6(bare)
  if (bare !== text) return undefined
  return decimalAddress.test(text) ? text : readName(text)
}

/** Whether it is an address, of a host as `normalizeHost` writes it. */
export function isAddress(host: string): boolean {
  return host.includes(':') || decimalAddress.test(host)
}

function readPort(text: string): number | undefined {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  return port >= 1 && port <= 65_535 ? port : undefined
}

/** `host`, `host:port`, `[address]:port`, and with `*.` before a name all that is below it. Undefined for anything else. */
export function readHostName(text: string): HostName | undefined {
  const isSuffix = text.startsWith('*.')
  const rest = isSuffix ? text.slice(2) : text
  const [, before = rest, portText] = /^(\[[^\]]*\]|[^:]*):([^:]*)$/.exec(rest) ?? []
  const host = normalizeHost(before)
  const port = portText === undefined ? undefined : readPort(portText)
  if (host === undefined || (portText !== undefined && port === undefined)) return undefined
  if (isSuffix && isAddress(host)) return undefined
  return { host, ...(port !== undefined && { port }), ...(isSuffix && { isSuffix }) }
}

/** Whether the pattern stands for the host; both as they are read here. Without a port: whether it does for some port. */
export function matchesHost(pattern: HostName, { host, port }: Omit<HostName, 'isSuffix'>): boolean {
  if (pattern.port !== undefined && port !== undefined && pattern.port !== port) return false
  return pattern.isSuffix === true ? host.endsWith(`.${pattern.host}`) : host === pattern.host
}

/** As an allowlist writes it. */
export function writeHostName({ host, port, isSuffix }: HostName): string {
  const name = host.includes(':') ? `[${host}]` : host
  return `${isSuffix === true ? '*.' : ''}${name}${port === undefined ? '' : `:${port}`}`
}
