import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ConfinedView, viewArguments } from './bubblewrap.ts'

let folder: string
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-view-')))
  mkdirSync(join(folder, 'data'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const bubblewrap = { binary: 'bwrap', version: '0.8.0', proc: 'own' as const, locksUserNamespaces: true }

const view = (parts: Partial<ConfinedView> = {}) =>
  viewArguments({
    bubblewrap,
    network: false,
    temporaryBytes: 4096,
    nests: false,
    sealsProc: true,
    binds: [{ source: folder, target: '/app' }],
    masked: [join(folder, 'data')],
    workspace: ['--tmpfs', '/workspace'],
    variables: { A: 'b' },
    ...parts,
  })

describe('what a confined program sees', () => {
  it('is masked after it is bound, has the workspace over both, and is sealed last [SAND-001]', () => {
    const text = view().join(' ')
    const places = [`--ro-bind ${folder} /app`, '--tmpfs /app/data', '--tmpfs /workspace', '--remount-ro /dev'].map(
      (part) => text.indexOf(part),
    )
    expect(places).not.toContain(-1)
    expect(places).toEqual(places.toSorted((left, right) => left - right))
    expect(text).toMatch(/--setenv A b .*--remount-ro \/dev --remount-ro \/ --chdir \/workspace$/)
  })

  it('allows no nested sandbox unless told to, and keeps /proc read-only where told to', () => {
    expect(view()).toContain('--disable-userns')
    expect(view({ nests: true })).not.toContain('--disable-userns')
    expect(view().join(' ')).toContain('--remount-ro /proc')
    expect(view({ sealsProc: false }).join(' ')).not.toContain('--remount-ro /proc')
  })

  it('has a network only where it is asked for', () => {
    expect(view()).toContain('--unshare-net')
    expect(view({ network: true })).not.toContain('--unshare-net')
  })
})
