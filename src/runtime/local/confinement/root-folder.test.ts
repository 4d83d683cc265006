import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { bindArguments, environmentArguments, maskArguments, procArguments, rootArguments } from './root-folder.ts'

let folder: string
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-root-')))
  mkdirSync(join(folder, 'program', 'data'), { recursive: true })
  mkdirSync(join(folder, 'program-data'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** The targets of an option that takes a source and a target, or a target alone. */
function targetsOf(args: string[], option: string, offset: number): string[] {
  return args.flatMap((argument, index) => (argument === option ? [args[index + offset] ?? ''] : []))
}

describe('what a mask covers', () => {
  const bind = () => [{ source: join(folder, 'program'), target: '/app' }]

  it('includes a hidden folder below a bound one, at its path inside the sandbox [SAND-001]', () => {
    expect(targetsOf(maskArguments([join(folder, 'program', 'data')], bind()), '--tmpfs', 1)).toEqual(['/app/data'])
  })

  it('includes folders that are reached through symbolic links', () => {
    symlinkSync(join(folder, 'program', 'data'), join(folder, 'link'))
    expect(targetsOf(maskArguments([join(folder, 'link')], bind()), '--tmpfs', 1)).toEqual(['/app/data'])
  })

  it('leaves out a folder elsewhere, a sibling with a similar name, and one that does not exist', () => {
    const hidden = [join(folder, 'program-data'), '/var/nowhere', join(folder, 'program', 'none')]
    expect(maskArguments(hidden, bind())).toEqual([])
  })
})

describe('the root of a sandbox', () => {
  it('has no name resolution files without network', () => {
    const names = (network: boolean) => targetsOf(rootArguments({ network }), '--ro-bind-try', 2)
    expect(names(true)).toContain('/etc/resolv.conf')
    expect(names(false)).not.toContain('/etc/resolv.conf')
    for (const network of [true, false]) {
      expect(names(network)).not.toContain('/etc/ssl')
      expect(names(network).some((name) => /shadow|private|^\/etc$/.test(name))).toBe(false)
    }
  })

  it('keeps kernel settings read-only, however /proc is mounted', () => {
    expect(procArguments('own', { leaf: true })).toEqual(['--proc', '/proc', '--remount-ro', '/proc'])
    expect(targetsOf(procArguments('own', { leaf: false }), '--ro-bind', 2)).toContain('/proc/sys')
    expect(procArguments('bound', { leaf: false })).toEqual(['--ro-bind', '/proc', '/proc'])
  })

  it('binds as writable only what is marked writable', () => {
    expect(
      bindArguments([
        { source: '/a', target: '/b' },
        { source: '/c', target: '/d', writable: true },
      ]),
    ).toEqual([...['--ro-bind', '/a', '/b'], ...['--bind', '/c', '/d']])
  })

  it('lets the variables of the caller replace the default ones', () => {
    expect(environmentArguments({ variables: { HOME: '/x', A: 'b' } }).join(' ')).toMatch(
      /--setenv HOME \/x .*--setenv A b$/,
    )
  })
})
