import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { listBrowserCommands, openBrowser } from './browser.ts'

const url = 'http://127.0.0.1:8080/#signin=svc_link_x'

describe('the browser', () => {
  it.each<[string, NodeJS.Platform, NodeJS.ProcessEnv, string[][]]>([
    ['on a Mac', 'darwin', {}, [['open', url]]],
    ['on Windows', 'win32', {}, [['rundll32', 'url.dll,FileProtocolHandler', url]]],
    ['on Linux with a screen', 'linux', { DISPLAY: ':0' }, [['xdg-open', url]]],
    ['on Linux with Wayland', 'linux', { WAYLAND_DISPLAY: 'wayland-0' }, [['xdg-open', url]]],
    ['on Linux without a screen', 'linux', {}, []],
    ['in Windows from Linux', 'linux', { WSL_DISTRO_NAME: 'Debian' }, [['wslview', url]]],
    ['that is named', 'linux', { BROWSER: 'firefox' }, [['firefox', url]]],
    [
      'that is named with options and others',
      'darwin',
      { BROWSER: 'chromium --app=%s:w3m -o x' },
      [
        ['chromium', `--app=${url}`],
        ['w3m', '-o', 'x', url],
      ],
    ],
  ])('%s', (_where, platform, env, commands) => {
    expect(listBrowserCommands(url, { env, platform })).toEqual(commands)
  })

  it('is the first that starts, and gets the address as it is', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-browser-'))
    const [program, shown] = [join(folder, 'browser'), join(folder, 'shown')]
    writeFileSync(program, `#!/bin/sh\nprintf '%s' "$1" > ${shown}\n`, { mode: 0o755 })
    const odd = `${url};touch$IFS${folder}/no&\`id\``
    const env = { BROWSER: `${folder}/none:false:${program}` }
    expect(await openBrowser(odd, { env, platform: 'linux' })).toBe(true)
    expect(readFileSync(shown, 'utf8')).toBe(odd)
    rmSync(folder, { recursive: true })
  })

  it('is not there where none starts', async () => {
    expect(await openBrowser(url, { env: { BROWSER: '/nowhere/browser' }, platform: 'linux' })).toBe(false)
    expect(await openBrowser(url, { env: {}, platform: 'linux' })).toBe(false)
  })
})
