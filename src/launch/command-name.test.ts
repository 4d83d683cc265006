import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findCommandName } from './command-name.ts'

let root: string
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'svc-command-')))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function makeLauncher(...parts: string[]): string {
  const launcher = join(root, ...parts, 'bin', 'svc')
  mkdirSync(dirname(launcher), { recursive: true })
  writeFileSync(launcher, '')
  chmodSync(launcher, 0o755)
  return launcher
}

function makeFolder(...parts: string[]): string {
  const folder = join(root, ...parts)
  mkdirSync(folder, { recursive: true })
  return folder
}

describe('the command as a person can type it', () => {
  it('is `npx svc` in a checkout and its folders, and the launcher’s path elsewhere', () => {
    const launcher = makeLauncher('a checkout')
    const inside = makeFolder('a checkout', 'docs')
    const outside = makeFolder('a checkout too')
    expect(findCommandName({ env: {}, launcher, folder: dirname(dirname(launcher)) })).toBe('npx svc')
    expect(findCommandName({ env: {}, launcher, folder: inside })).toBe('npx svc')
    expect(findCommandName({ env: {}, launcher, folder: outside })).toBe(`'${launcher}'`)
  })

  it('is `svc` when that name runs this program, but not when npm added it to the PATH for one command', () => {
    const launcher = makeLauncher('lib', 'node_modules', 'svc')
    const bin = makeFolder('bin')
    const folder = makeFolder('home')
    symlinkSync(launcher, join(bin, 'svc'))
    expect(findCommandName({ env: { PATH: `/nowhere:${bin}` }, launcher, folder })).toBe('svc')
    const other = makeFolder('other')
    writeFileSync(join(other, 'svc'), '')
    expect(findCommandName({ env: { PATH: `${other}:${bin}` }, launcher, folder })).toBe(launcher)
    const borrowed = makeFolder('home', 'node_modules', '.bin')
    symlinkSync(launcher, join(borrowed, 'svc'))
    expect(findCommandName({ env: { PATH: borrowed }, launcher, folder })).toBe(launcher)
  })

  it('is `npx svc` in a project that has the package', () => {
    const launcher = makeLauncher('project', 'node_modules', 'svc')
    expect(findCommandName({ env: {}, launcher, folder: makeFolder('project', 'src') })).toBe('npx svc')
  })

  it('includes the package that npx was asked for', () => {
    const launcher = makeLauncher('_npx', 'abc', 'node_modules', 'svc')
    const folder = makeFolder('home')
    expect(findCommandName({ env: {}, launcher, folder })).toBe('npx svc')
    const note = { _npx: { packages: ['svc@0.1.0'] } }
    writeFileSync(join(root, '_npx', 'abc', 'package.json'), JSON.stringify(note))
    expect(findCommandName({ env: {}, launcher, folder })).toBe('npx svc@0.1.0')
    const env = { npm_config_package: './svc-0.1.0.tgz' }
    expect(findCommandName({ env, launcher, folder })).toBe('npx --package=./svc-0.1.0.tgz svc')
  })
})
