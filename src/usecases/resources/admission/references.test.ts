import { describe, expect, it } from 'vitest'
import type { Access } from '../../../contract/api/identity/access.ts'
import { type Kind, kinds } from '../../../contract/kinds/index.ts'
import type { UsecaseDeps } from '../../service/deps.ts'
import { requireReferences } from './references.ts'

const caller = {
  authType: 'token',
  username: 'ann',
  groups: [],
  role: 'editor',
  serverTools: true,
} as const
const far = { name: 'x', namespace: 'other' }
const near = { name: 'x' }
const scan = { repoURL: 'https://github.com/a/b', analysisAgentRef: { name: 'a' } }
const monitor = { repoURL: scan.repoURL, agents: { reviewer: { name: 'a' } } }
const task = { type: 'ai', prompt: 'x' }

function namedBy(kind: Kind, spec: object, settings: Partial<UsecaseDeps['settings']> = {}, before?: object) {
  const checked: string[] = []
  const authorize = async (_caller: unknown, { verb, kind: what, namespace, name }: Access) => {
    checked.push(`${verb} ${what} ${namespace}/${name}`)
    return { allowed: true as const }
  }
  const parsed = (spec: object) => kinds[kind].spec.parse(spec) as never
  const stored = before === undefined ? {} : { before: { spec: parsed(before) } as never }
  const request = { caller: { ...caller, groups: [] }, namespace: 'own', name: 'n', spec: parsed(spec), ...stored }
  const deps = { ports: { authorizer: { authorize } }, settings } as unknown as UsecaseDeps
  return requireReferences(kind, request, deps).then(() => checked)
}

describe('a reference of a resource', () => {
  it.each<[Kind, object, string]>([
    ['Task', { ...task, priorTaskRef: far }, 'get Task other/x'],
    ['Task', { ...task, workspace: { gitSecretRef: near } }, 'get Secret own/x'],
    ['Task', { ...task, ai: { skills: [{ configMapRef: { ...near, key: 'k' } }] } }, 'get ConfigMap own/x'],
    ['Agent', { systemPrompt: { configMapRef: { ...near, key: 'k' } } }, 'get ConfigMap own/x'],
    ['RepositoryScan', { ...scan, analysisAgentRef: far }, 'get Agent other/x'],
    ['RepositoryScan', { ...scan, patchAgentRef: far }, 'get Agent other/x'],
    ['RepositoryScan', { ...scan, gitSecretRef: near }, 'get Secret own/x'],
    ['RepositoryScan', { ...scan, falsePositivePolicyRef: near }, 'get ConfigMap own/x'],
    ['RepositoryMonitor', { ...monitor, gitSecretRef: near }, 'get Secret own/x'],
    ['RepositoryMonitor', { ...monitor, agents: { ...monitor.agents, repairer: far } }, 'get Agent other/x'],
    ['RepositoryMonitor', { ...monitor, agents: { ...monitor.agents, implementer: far } }, 'get Agent other/x'],
  ])('needs the right to what it names: %s %j', async (kind, spec, access) => {
    expect(await namedBy(kind, spec)).toContain(access)
  })

  it('must stay in its own namespace where namespaces are isolated', async () => {
    const isolated = { isolateNamespaces: true }
    await expect(namedBy('RepositoryScan', { ...scan, patchAgentRef: far }, isolated)).rejects.toThrow(
      'spec.patchAgentRef names namespace "other", but repositoryscans of "own" may only use their own',
    )
    expect(
      await namedBy('RepositoryScan', { ...scan, patchAgentRef: { ...near, namespace: 'own' } }, isolated),
    ).toContain('get Agent own/x')
  })

  it('is checked again when a field changes that affects its use, and not for a priority or a suspension', async () => {
    const stored = { ...task, secretRef: near }
    expect(await namedBy('Task', { ...stored, suspend: true, priority: 7 }, {}, stored)).toEqual([])
    expect(await namedBy('Task', { ...stored, prompt: 'y' }, {}, stored)).toEqual(['get Secret own/x'])
  })
})
