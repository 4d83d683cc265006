// The oldest versions of clients that are tried are older than the newest, and those of agent programs are what the service takes.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { agentRuntimes } from '../../src/agents/runtimes.ts'
import { folderOf } from '../fixtures/clients.ts'

const readPackages = (folder: string): Record<string, string> => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return { ...devDependencies, ...dependencies }
}
const readPython = (folder: string): Record<string, string> => {
  const lists = ['requirements.txt', 'requirements-frameworks.txt'].map((list) =>
    readFileSync(join(folder, list), 'utf8'),
  )
  const lines = lists.join('').trim().split('\n')
  return Object.fromEntries(lines.map((line) => line.split('==')))
}

/** The newest SDKs of TypeScript are the project's own. */
const newest = {
  ...readPackages(join(import.meta.dirname, '..', '..')),
  ...readPackages(folderOf.newest),
  ...readPython(folderOf.newest),
}
const packages = readPackages(folderOf.oldest)
const oldest = { ...packages, ...readPython(folderOf.oldest) }

describe('the oldest clients', () => {
  it.each(Object.entries(oldest))('%s %s is older than the newest', (name, version) => {
    expect(version.localeCompare(newest[name] ?? '', 'en', { numeric: true })).toBe(-1)
  })

  it('are the lowest agent programs that the service takes', () => {
    const lowest = Object.values(agentRuntimes).map((runtime) => runtime.lowest)
    expect(Object.values(packages)).toEqual(expect.arrayContaining(lowest))
  })
})
