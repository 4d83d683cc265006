// What programs read to find a proxy: one table for every sandbox. Names in lower case are what curl, apt and pip read first.

type ProxyVariable = { name: string; value: (proxy: URL) => string; readBy: string }

/** With the password of the attempt, where there is one. */
const whole = (proxy: URL) => proxy.href.replace(/\/$/, '')

/** Addresses that are reached without the proxy: those of the sandbox itself. */
const direct = '127.0.0.1,localhost,::1'

const proxyVariables: readonly ProxyVariable[] = [
  { name: 'https_proxy', value: whole, readBy: 'curl, git, pip, cargo, apt, wget' },
  { name: 'http_proxy', value: whole, readBy: 'curl, git, pip, cargo, apt, wget' },
  { name: 'all_proxy', value: whole, readBy: 'curl, git' },
  { name: 'no_proxy', value: () => direct, readBy: 'all of them' },
  { name: 'HTTPS_PROXY', value: whole, readBy: 'Go, Node, Python, Rust' },
  { name: 'HTTP_PROXY', value: whole, readBy: 'Go, Node, Python, Rust' },
  { name: 'ALL_PROXY', value: whole, readBy: 'curl, Rust' },
  { name: 'NO_PROXY', value: () => direct, readBy: 'all of them' },
  { name: 'NODE_USE_ENV_PROXY', value: () => '1', readBy: 'fetch and http of Node' },
  { name: 'npm_config_proxy', value: whole, readBy: 'npm, pnpm' },
  { name: 'npm_config_https_proxy', value: whole, readBy: 'npm, pnpm' },
  { name: 'CARGO_HTTP_PROXY', value: whole, readBy: 'cargo' },
  {
    name: 'MAVEN_OPTS',
    value: ({ hostname, port }) =>
      ['http', 'https'].map((scheme) => `-D${scheme}.proxyHost=${hostname} -D${scheme}.proxyPort=${port}`).join(' '),
    readBy: 'Maven',
  },
]

/** `url`: where the proxy listens, as the program sees it. */
export function listProxyVariables(url: string): Record<string, string> {
  const proxy = new URL(url)
  return Object.fromEntries(proxyVariables.map(({ name, value }) => [name, value(proxy)]))
}

/** The port of loopback on which programs without a network find their gate. */
export const gatePort = 3128

/** What such programs are told of it. */
export const gateVariables: Readonly<Record<string, string>> = listProxyVariables(`http://127.0.0.1:${gatePort}`)
