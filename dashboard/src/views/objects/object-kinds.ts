// The kinds of objects that forms make and change: their words, addresses and routes.
import { createAgent, deleteAgent, getAgent, updateAgent } from '../../../../src/contract/api/agents/agents.ts'
import {
  createMonitor,
  deleteMonitor,
  getMonitor,
  updateMonitor,
} from '../../../../src/contract/api/monitors/monitors.ts'
import {
  createProvider,
  deleteProvider,
  getProvider,
  updateProvider,
} from '../../../../src/contract/api/providers/providers.ts'
import {
  createRepositoryScan,
  deleteRepositoryScan,
  getRepositoryScan,
  updateRepositoryScan,
} from '../../../../src/contract/api/scans/routes.ts'
import { createSkill, deleteSkill, getSkill, updateSkill } from '../../../../src/contract/api/tools/skills.ts'
import { createTool, deleteTool, getTool, updateTool } from '../../../../src/contract/api/tools/tools.ts'
import type { Kind } from '../../../../src/contract/kinds/index.ts'
import { api } from '../../data/api.ts'
import type { Fields } from '../../parts/schema-form/schema.ts'

/** What a client sends of an object. */
export type Manifest = {
  metadata: { name?: string; namespace?: string; labels?: Fields; annotations?: Fields }
  spec: Fields
}

/** What the service has. */
export type StoredObject = {
  metadata: Manifest['metadata'] & { name: string; namespace: string; resourceVersion: string; generation: number }
  spec: Fields
  status?: Fields
}

const routes = {
  agents: { create: createAgent, get: getAgent, update: updateAgent, remove: deleteAgent },
  providers: { create: createProvider, get: getProvider, update: updateProvider, remove: deleteProvider },
  tools: { create: createTool, get: getTool, update: updateTool, remove: deleteTool },
  skills: { create: createSkill, get: getSkill, update: updateSkill, remove: deleteSkill },
  monitors: { create: createMonitor, get: getMonitor, update: updateMonitor, remove: deleteMonitor },
  scans: {
    create: createRepositoryScan,
    get: getRepositoryScan,
    update: updateRepositoryScan,
    remove: deleteRepositoryScan,
  },
}

/** The first part of the address. */
export type ObjectPath = keyof typeof routes

export type ObjectKind = {
  path: ObjectPath
  kind: Kind
  noun: string
  title: string
  /** What happens to others when one is deleted. */
  loss: string
}

const kinds: Record<ObjectPath, Omit<ObjectKind, 'path'>> = {
  agents: {
    kind: 'Agent',
    noun: 'agent',
    title: 'Agents',
    loss: 'Tasks of it that still wait will fail. Sessions and results stay.',
  },
  providers: {
    kind: 'Provider',
    noun: 'provider',
    title: 'Providers',
    loss: 'Agents that name it cannot call a model until there is one of that name again. Its secret stays.',
  },
  tools: { kind: 'Tool', noun: 'tool', title: 'Tools', loss: 'Agents that name it go on without it.' },
  skills: { kind: 'Skill', noun: 'skill', title: 'Skills', loss: 'Agents that name it go on without it.' },
  monitors: {
    kind: 'RepositoryMonitor',
    noun: 'monitor',
    title: 'Monitors',
    loss: 'Its pull requests, reviews and events are no longer shown. What it wrote at the code host stays.',
  },
  scans: {
    kind: 'RepositoryScan',
    noun: 'scan',
    title: 'Scans',
    loss: 'Its runs and findings are deleted with it, and so is what was decided about them.',
  },
}

export function objectKind(path: ObjectPath): ObjectKind {
  return { path, ...kinds[path] }
}

/** The kind that an address is about. */
export function kindOfAddress(pathname: string): ObjectKind {
  const path = pathname.split('/')[1] as ObjectPath
  if (!Object.hasOwn(kinds, path)) throw new Error(`there is no form for ${path}`)
  return objectKind(path)
}

type Key = { name: string; namespace: string }

// Routes of different kinds have different types; what forms send is checked by the service.
export const routesOf = (path: ObjectPath) => routes[path] as unknown as (typeof routes)['agents']

export function readObject(path: ObjectPath, { name, namespace }: Key): Promise<StoredObject> {
  return api().call(routesOf(path).get, { params: { name }, query: { namespace } }) as unknown as Promise<StoredObject>
}

export function createObject(path: ObjectPath, body: Manifest): Promise<StoredObject> {
  const { namespace } = body.metadata
  return api().call(routesOf(path).create, {
    query: { namespace },
    body: body as never,
  }) as unknown as Promise<StoredObject>
}

/** 409 where the object is no longer of the version. */
export function replaceObject(path: ObjectPath, body: Manifest, { metadata }: StoredObject): Promise<StoredObject> {
  const { name, namespace, resourceVersion } = metadata
  const { labels = {}, annotations = {} } = body.metadata
  return api().call(routesOf(path).update, {
    params: { name },
    query: { namespace },
    body: { metadata: { labels, annotations, resourceVersion }, spec: body.spec } as never,
  }) as unknown as Promise<StoredObject>
}

export async function deleteObject(path: ObjectPath, { name, namespace }: Key): Promise<void> {
  await api().call(routesOf(path).remove, { params: { name }, query: { namespace } })
}
