// What README and the first guides tell a newcomer to type, typed in the order it stands there.
import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { delimiter, dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { environmentOf, launcher, makeFolder, removeFolder, root, runProgram, runSvc } from '../../scenarios/service.ts'

/** The shell's words in the blocks that are marked, as they stand. */
function readBlocks(path: string): string[] {
  const text = readFileSync(join(root, path), 'utf8')
  return [...text.matchAll(/^```sh run\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block)
}

async function findFreePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const { port } = probe.address() as { port: number }
  await new Promise((resolve) => probe.close(resolve))
  return port
}

let home: string
let env: NodeJS.ProcessEnv
let port: number
beforeEach(async () => {
  home = makeFolder()
  port = await findFreePort()
  const programs = join(home, 'programs')
  mkdirSync(programs)
  symlinkSync(launcher, join(programs, 'svc'))
  symlinkSync(process.execPath, join(programs, 'node'))
  // The packages are there, and what npx does with a checkout takes long.
  writeFileSync(join(programs, 'npm'), '#!/bin/sh\ntest "$*" = ci\n', { mode: 0o755 })
  writeFileSync(join(programs, 'npx'), '#!/bin/sh\ntest "$1" = svc && exec "$@"\n', { mode: 0o755 })
  const place = join(home, 'place')
  mkdirSync(place)
  cpSync(join(root, 'examples'), join(place, 'examples'), { recursive: true })
  copyFileSync(join(root, 'README.md'), join(place, 'README.md'))
  env = {
    ...environmentOf(home),
    PATH: [programs, dirname(process.execPath), process.env.PATH].join(delimiter),
    SVC_PORT: String(port),
    SEARCH_KEY: 'made-up-search-key',
    EDITOR: 'true',
  }
})
afterEach(async () => {
  await runSvc(['down', '--yes'], env)
  removeFolder(home)
})

const hasTools = ['bash', 'curl'].every((name) => {
  try {
    return execFileSync('sh', ['-c', `command -v ${name}`]).length > 0
  } catch {
    return false
  }
})

async function typeAll(path: string): Promise<void> {
  const blocks = readBlocks(path)
  expect(blocks).not.toEqual([])
  for (const block of blocks) {
    const script = `set -eu -o pipefail\n${block.replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`)}`
    const outcome = await runProgram('bash', ['-c', script], { env, cwd: join(home, 'place') })
    expect(outcome.code, `${path}: ${block}\n${outcome.stdout}\n${outcome.stderr}`).toBe(0)
  }
}

const readme = 'README.md'
const everyday = 'docs/guides/everyday.md'
const install = 'docs/guides/install.md'
const firstTask = 'docs/guides/first-task.md'

describe.skipIf(!hasTools)('the commands of README and guides', () => {
  it.each([
    [readme, everyday, install, firstTask],
    [firstTask, everyday, readme, install],
    [install, firstTask, readme, everyday],
  ])(
    'work one after the other: %s, %s, %s, %s',
    async (...paths) => {
      for (const path of paths) await typeAll(path)
    },
    900_000,
  )
})
