import { describe, expect, it } from 'vitest'
import { gateVariables, listProxyVariables } from './proxy-variables.ts'

const names = [
  ...['http_proxy', 'https_proxy', 'all_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'],
  ...['npm_config_proxy', 'npm_config_https_proxy', 'CARGO_HTTP_PROXY'],
]

describe('the variables that lead programs to their gate', () => {
  it('name the port of the sandbox, and what is reached without it', () => {
    for (const name of names) expect([name, gateVariables[name]]).toEqual([name, 'http://127.0.0.1:3128'])
    for (const name of ['no_proxy', 'NO_PROXY']) expect(gateVariables[name]).toBe('127.0.0.1,localhost,::1')
    expect(gateVariables.NODE_USE_ENV_PROXY).toBe('1')
    expect(gateVariables.MAVEN_OPTS).toBe(
      '-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=3128 -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=3128',
    )
  })

  it('have the password of a pod where programs read it, and not in the command line of Java', () => {
    const password = crypto.randomUUID()
    const variables = listProxyVariables(`http://attempt:${password}@svc.example:3129`)
    for (const name of names) expect(variables[name]).toBe(`http://attempt:${password}@svc.example:3129`)
    expect(variables.MAVEN_OPTS).toBe(
      '-Dhttp.proxyHost=svc.example -Dhttp.proxyPort=3129 -Dhttps.proxyHost=svc.example -Dhttps.proxyPort=3129',
    )
    const shown = Object.entries(variables).filter(([name]) => !names.includes(name))
    expect(JSON.stringify(shown)).not.toContain(password)
    expect(JSON.stringify(shown)).not.toContain('attempt')
  })
})
