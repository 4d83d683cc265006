// `./bin/svc` from a checkout on any Node, and the packed package installed elsewhere.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ThreadPool } from '../../../src/lib/thread-pool.ts'
import type { ArticleRequest } from '../../../src/tools/web/article.ts'
import { environmentOf, makeFolder, removeFolder, root, runProgram } from '../../scenarios/service.ts'

/** Of the checkout. */
const launcher = join(root, 'bin', 'svc')

let folder: string
beforeAll(() => {
  folder = makeFolder()
})
afterAll(() => removeFolder(folder))

/** The Node that is installed on the system, outside the packages, where it is another one. */
function findSystemNode(): string | undefined {
  const candidates = ['/usr/bin/node', '/usr/local/bin/node']
  return candidates.find(
    (path) => existsSync(path) && !/^v2[4-9]/.test(execFileSync(path, ['-v'], { encoding: 'utf8' })),
  )
}

describe('./bin/svc', () => {
  it('runs from a checkout, outside npm scripts', async () => {
    const outcome = await runProgram(launcher, ['--version'], { env: environmentOf(folder), cwd: folder })
    expect(outcome).toMatchObject({ code: 0, stdout: '0.1.0\n' })
  })

  const systemNode = findSystemNode()
  it.skipIf(systemNode === undefined)('starts on an older Node with the one that came with the packages', async () => {
    const outcome = await runProgram(systemNode ?? '', [launcher, 'config', 'print', '-o', 'json'], {
      env: environmentOf(folder),
    })
    expect(outcome.stderr).toContain('no service runs')
    expect(JSON.parse(outcome.stdout)).toContainEqual({ name: 'port', value: '8080', source: 'default' })
  })
})

/** As an installation would lay them: real folders, hard links where the file system has them. */
function copyPackages(from: string, to: string): void {
  try {
    execFileSync('cp', ['-al', `${from}/.`, to], { stdio: 'ignore' })
  } catch {
    execFileSync('cp', ['-a', `${from}/.`, to])
  }
}

describe('a built program', () => {
  const chunks = join(process.env.SVC_TEST_PROGRAM ?? '', 'dist', 'chunks')

  it('reads articles in a thread that begins with a file of its own', async () => {
    const { articleModule } = (await import(pathToFileURL(join(chunks, 'article.js')).href)) as {
      articleModule: string
    }
    const page = `<html><head><title>News</title></head><body><article><p>${'A word of it. '.repeat(60)}</p></article></body></html>`
    const article = { html: page, url: 'http://news.example/' }
    const limits = { threads: 1, timeoutMs: 60_000, memoryMegabytes: 256 }
    const run = { holder: '', signal: new AbortController().signal }
    const text = await new ThreadPool<ArticleRequest, string>(articleModule, limits).ask(article, run)
    expect(text).toContain('A word of it.')
  })

  it('has what tags the streams of a pod in one file, that is sent there as text', async () => {
    const text = `${readFileSync(join(chunks, 'tagger.js'), 'utf8')}\nprocess.stdout.write(typeof tagStreams)\n`
    const outcome = await runProgram(process.execPath, ['--input-type=module', '-e', text], { env: {} })
    expect(outcome).toMatchObject({ code: 0, stdout: 'function' })
  })

  it('carries the licences of the packages in it', () => {
    const text = readFileSync(join(chunks, '..', 'licences.txt'), 'utf8')
    for (const name of ['zod', 'fastify', 'undici', '@pinojs/redact', 'react-dom'])
      expect(text).toMatch(new RegExp(`^${name} [0-9]`, 'm'))
    expect(text).toContain('Permission is hereby granted')
  })
})

describe('npm run package', () => {
  it('makes a package that runs where it is installed', async () => {
    const env = { ...environmentOf(folder), npm_config_cache: join(folder, 'npm-cache') }
    const packed = await runProgram('npm', ['run', 'package', '--', '--pack-destination', folder], { env, cwd: root })
    expect(packed.code, packed.stderr).toBe(0)
    const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? ''
    const place = join(folder, 'elsewhere', 'node_modules')
    execFileSync('mkdir', ['-p', join(place, 'svc')])
    execFileSync('tar', ['-xzf', join(folder, tarball), '-C', join(place, 'svc'), '--strip-components=1'])
    copyPackages(join(root, 'node_modules'), place)
    writeFileSync(join(folder, 'elsewhere', 'package.json'), '{}')
    expect(existsSync(join(place, 'svc', 'src'))).toBe(false)
    const svc = join(place, 'svc', 'bin', 'svc')
    const outcome = await runProgram(svc, ['run', 'write packed to a.txt, then read a.txt'], { env })
    await runProgram(svc, ['down'], { env })
    expect(outcome.stderr).toContain('started a service')
    expect(outcome.stdout).toContain('packed')
    expect(outcome.code).toBe(0)
    expect(existsSync(join(place, 'svc', 'dist', 'dashboard', 'index.html.br'))).toBe(true)
  })
})
