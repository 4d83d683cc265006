import { describe, expect, it } from 'vitest'
import { isAtLeast, knownOptions, readVersion } from './version.ts'

describe('the version of an agent program', () => {
  it.each([
    ['2.1.197 (Claude Code)', '2.1.197'],
    ['codex-cli 0.171.0', '0.171.0'],
    ['codex-cli 0.172.0-alpha.3', '0.172.0'],
    ["GitHub Copilot CLI 1.0.102.\nRun 'copilot update' to check for updates.", '1.0.102'],
    ['v1.18.33', '1.18.33'],
    ['at 127.0.0.1', undefined],
    ['no version here', undefined],
    ['', undefined],
  ])('is found in %j', (text, version) => {
    expect(readVersion(text)).toBe(version)
  })

  it.each([
    ['2.1.197', '2.1.263', false],
    ['2.1.263', '2.1.263', true],
    ['2.1.1000', '2.1.263', true],
    ['2.2.0', '2.1.263', true],
    ['1.9.999', '2.1.263', false],
    ['0.99.0', '0.120.0', false],
    [undefined, '2.1.263', true],
  ])('%s is at least %s: %s', (version, wanted, expected) => {
    expect(isAtLeast(version, wanted)).toBe(expected)
  })

  it('decides about the options', () => {
    const options = { '--old': '1.0.0', '--new': '1.2.0' }
    expect(knownOptions('1.1.0', options)).toEqual(['--old'])
    expect(knownOptions(undefined, options)).toEqual(['--old', '--new'])
  })
})
