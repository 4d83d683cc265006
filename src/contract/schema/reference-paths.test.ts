import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type Kind, kindNames, kinds } from '../kinds/index.ts'
import { ForeignName, Name } from '../kinds/resources/metadata.ts'
import { findReferences, listReferencePaths, walkSchema } from './reference-paths.ts'

/** Names of other things that are not marked references, with the reason. */
const unmarked: Record<string, string> = {
  'Task.env[].valueFrom.fieldRef': 'a field of the pod itself',
  'Task.env[].valueFrom.resourceFieldRef': 'a field of the pod itself',
  'Task.sessionRef': 'a session of the task’s own namespace, with rights of its own',
  'Task.execution.runtimeClassName': 'asked of the cluster itself when the pod is made',
  'Agent.execution.runtimeClassName': 'asked of the cluster itself when the pod is made',
  'Task.execution.workspace.templateRef': 'an object of whoever provides workspaces',
  'Task.execution.workspace.poolRef': 'an object of whoever provides workspaces',
  'Agent.execution.workspace.templateRef': 'refused on agents',
  'Agent.execution.workspace.poolRef': 'refused on agents',
  'Tool.mcp.actor.templateRef': 'of another controller of the cluster, whose templates say whom they are for',
  'Tool.mcp.actor.poolRef': 'of another controller of the cluster, checked against the template',
  'Agent.runtime.runtimeRef': 'a setting of the service',
  'Agent.skills[]': 'a skill of the same namespace, whose text its members may have',
  'Task.ai.skills[]': 'a skill of the same namespace, whose text its members may have',
}

function write(kind: Kind, path: readonly string[]): string {
  return [kind, ...path].join('.').replaceAll('.[]', '[]')
}

/** Where a schema looks like a name of something else, by the type of its field or by what it is called. */
function fieldOf(kind: Kind, schema: z.ZodType, path: readonly string[]): string | undefined {
  const last = path.at(-1) ?? ''
  if (last === 'namespace') return undefined
  if (schema === Name || schema === ForeignName) return write(kind, last === 'name' ? path.slice(0, -1) : path)
  return /refs?$/i.test(last) && schema instanceof z.ZodObject ? write(kind, path) : undefined
}

function listNames(kind: Kind): string[] {
  const fields = [...walkSchema(kinds[kind].spec)].map(([schema, path]) => fieldOf(kind, schema, path))
  return [...new Set(fields.filter((field) => field !== undefined))]
}

const marked = kindNames.flatMap((kind) => listReferencePaths(kind).map(({ path }) => write(kind, path)))

describe('references', () => {
  it('are every field that names something else, but for those with a reason', () => {
    const names = kindNames.flatMap(listNames)
    expect(names.filter((field) => !marked.includes(field) && !(field in unmarked))).toEqual([])
    expect(Object.keys(unmarked).filter((field) => !names.includes(field) || marked.includes(field))).toEqual([])
  })

  it('are found in a spec, each with the field it stands in', () => {
    const spec = {
      type: 'container',
      image: 'x',
      env: [
        { name: 'A', value: 'x' },
        { name: 'B', valueFrom: { secretKeyRef: { name: 'key', key: 'k' } } },
        { name: 'C', valueFrom: { configMapKeyRef: { name: 'map', key: 'k' } } },
      ],
      secretRef: { name: 'far', namespace: 'other' },
    }
    expect(findReferences('Task', kinds.Task.spec.parse(spec))).toEqual([
      { kind: 'Secret', name: 'key', field: 'spec.env[1].valueFrom.secretKeyRef' },
      { kind: 'ConfigMap', name: 'map', field: 'spec.env[2].valueFrom.configMapKeyRef' },
      { kind: 'Secret', name: 'far', namespace: 'other', field: 'spec.secretRef' },
    ])
  })
})
