import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { layouts, type PackagedProgram } from '../../test/fixtures/agents/install-layouts.ts'
import { loadConfig } from '../config/load.ts'
import { probeBubblewrap } from '../runtime/local/confinement/bubblewrap.ts'
import { createPrograms } from '../runtime/local/sandbox/programs.ts'
import { openAgentPrograms } from './agent-programs.ts'

const bubblewrap = probeBubblewrap()
const home = () => join(folder, 'home')
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-installs-'))
  mkdirSync(home())
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function openWith(path: string) {
  return openAgentPrograms(loadConfig({ flags: {}, env: { PATH: path, HOME: home() } }), bubblewrap)
}

function write(file: string, text: string): string {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text, { mode: 0o755 })
  return file
}

/** It needs a file beside it, and another package. */
function makePackages(): PackagedProgram {
  const source = join(folder, 'source')
  write(join(source, 'codex', 'package.json'), '{"name":"@openai/codex","type":"module"}')
  write(
    join(source, 'codex', 'bin', 'codex.js'),
    `#!/usr/bin/env node\nimport { version } from './version.js'\nimport other from 'codex-part'\nconsole.log(version + other, ...process.argv.slice(3))\n`,
  )
  write(join(source, 'codex', 'bin', 'version.js'), `export const version = 'codex-cli 0.999.'\n`)
  write(join(source, 'part', 'package.json'), '{"name":"codex-part","main":"index.js"}')
  write(join(source, 'part', 'index.js'), 'module.exports = 7\n')
  return {
    command: 'codex',
    packages: { '@openai/codex': join(source, 'codex'), 'codex-part': join(source, 'part') },
    entry: '@openai/codex/bin/codex.js',
    node: process.execPath,
  }
}

describe.skipIf(!(await bubblewrap).available)('a program of Node in a sandbox', () => {
  it.each(Object.keys(layouts))('starts as it was installed by %s', async (name) => {
    const path = layouts[name]?.(home(), makePackages()) ?? ''
    const found = await openWith(path).find('llmo-cli')
    expect(found).toMatchObject({ found: true, launch: { version: '0.999.7' } })
    const launch = found?.found ? found.launch : undefined
    // Not the whole of the home, and not what shims are read from.
    expect(launch?.folders.every((shown) => shown.startsWith(`${home()}/`))).toBe(true)
    const [work, own] = ['work', 'own'].map((each) => join(folder, each)) as [string, string]
    for (const each of [work, own]) mkdirSync(each)
    const running = await createPrograms({ nodePath: process.execPath, bubblewrap }).start({
      argv: [...(launch?.argv ?? []), 'said', 'this'],
      folders: launch?.folders ?? [],
      folder: work,
      home: own,
      env: { PATH: launch?.path ?? '' },
    })
    let text = ''
    running.stdout.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
    })
    running.stderr.resume()
    running.stdin?.end()
    expect((await running.exited).code).toBe(0)
    expect(text).toBe('codex-cli 0.999.7 this\n')
  })
})

describe('an agent program', () => {
  const bin = () => join(home(), 'bin')
  const claude = (script: string) => write(join(bin(), 'claude'), `#!/bin/sh\n${script}\n`)
  const find = (programs = openWith(`${bin()}:/usr/bin:/bin`)) => programs.find('llma-cli')

  it('that is installed, changed or removed is seen without a new start', async () => {
    const programs = openWith(`${bin()}:/usr/bin:/bin`)
    expect(await find(programs)).toEqual({
      found: false,
      command: 'claude',
      install: 'npm install --global @anthropic-ai/claude-code@latest',
    })
    claude('echo "2.1.300 (Claude Code)"')
    expect(await find(programs)).toMatchObject({ found: true, launch: { version: '2.1.300' } })
    rmSync(join(bin(), 'claude'))
    claude('echo "2.1.301 (Claude Code)"')
    expect(await find(programs)).toMatchObject({ found: true, launch: { version: '2.1.301' } })
    rmSync(join(bin(), 'claude'))
    expect(await find(programs)).toMatchObject({ found: false })
  })

  it('is asked for its version once', async () => {
    claude('echo "2.1.$(date +%N | tail -c 5 | sed s/^0*/1/)"')
    const programs = openWith(`${bin()}:/usr/bin:/bin`)
    const [first, second] = await Promise.all([find(programs), find(programs)])
    expect(first).toMatchObject({ launch: { version: expect.any(String) } })
    expect([second, await find(programs)]).toEqual([first, first])
  })

  it.each([
    ['is too old', 'echo "2.1.49 (Claude Code)"', 'is version 2.1.49, and 2.1.50 is the lowest that works'],
    ['says no version', 'echo hello', 'does not say its version: it printed "hello"'],
    ['fails', 'echo "Error: no such module" >&2; exit 3', '--version ends with exit code 3: Error: no such module'],
    ['says nothing', 'exit 0', 'does not say its version'],
  ])('that %s cannot be used, and it is said why', async (_what, script, words) => {
    const file = claude(script)
    expect(await find()).toMatchObject({ found: false, file, problem: expect.stringContaining(words) })
  })

  it('that floods is bounded', async () => {
    claude('echo 2.1.300; head -c 20000000 /dev/zero')
    expect(await find()).toMatchObject({ found: true, launch: { version: '2.1.300' } })
  })

  it('is the first in PATH that works', async () => {
    claude('echo 1.0.0')
    const file = write(join(home(), 'newer', 'claude'), '#!/bin/sh\necho 2.1.300\n')
    const found = await openWith(`${bin()}:${dirname(file)}:/usr/bin:/bin`).find('llma-cli')
    expect(found).toMatchObject({ found: true, file, launch: { version: '2.1.300' } })
  })

  it.each([
    [
      'that needs an interpreter that is not there',
      '#!/usr/bin/env no-such-node\n',
      'needs "no-such-node", which is not installed',
    ],
    [
      'whose shim has no manager',
      '#!/bin/sh\nexec asdf exec "claude" "$@"\n',
      'is a shim of "asdf", which is not found',
    ],
  ])('%s cannot be used', async (_what, text, words) => {
    write(join(bin(), 'claude'), text)
    expect(await find()).toMatchObject({ found: false, problem: words })
  })

  it('that its owner has added is looked up, and not asked', async () => {
    const file = write(join(bin(), 'own'), '#!/bin/sh\nexit 1\n')
    const flags = { agentProgram: 'mine=own --acp' }
    const config = loadConfig({ flags, env: { PATH: `${bin()}:/usr/bin:/bin`, HOME: home() } })
    expect(await openAgentPrograms(config, bubblewrap).find('mine')).toMatchObject({
      found: true,
      command: ['own', '--acp'],
      launch: { argv: ['/bin/sh', file] },
    })
  })
})
