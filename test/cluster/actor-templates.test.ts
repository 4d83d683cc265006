// Templates and pools of actors as a real API server gives them. Its definitions are the least that the published ones say.
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { KubernetesApi } from '../../src/cluster/api.ts'
import { findPoolProblem, findTemplateProblem } from '../../src/rules/workspaces/actor-templates.ts'
import { createActorTemplates } from '../../src/runtime/actors/templates.ts'
import {
  describeOnCluster,
  dropNamespace,
  installDefinitions,
  makeNamespace,
  openClusterApi,
} from '../fixtures/cluster.ts'
import { applyManifest, kubectl } from '../fixtures/kubectl.ts'

const group = 'ate.dev'
const apiVersion = `${group}/v1alpha1`

function define(kind: string, plural: string): object {
  const free = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: free, status: free } } }
  const version = { name: 'v1alpha1', served: true, storage: true, schema, subresources: { status: {} } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope: 'Namespaced', names: { kind, plural }, versions: [version] },
  }
}

const apply = (objects: object[]) => applyManifest(JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }))
const definitions = [define('ActorTemplate', 'actortemplates'), define('WorkerPool', 'workerpools')]

describeOnCluster('templates and pools of actors', () => {
  let api: KubernetesApi
  let namespace: string

  beforeAll(async () => {
    api = await openClusterApi()
    await installDefinitions(api)
    namespace = await makeNamespace(api, 'actors')
    await apply(definitions)
    const names = ['actortemplates', 'workerpools'].map((plural) => `crd/${plural}.${group}`)
    await kubectl(['wait', '--for=condition=Established', ...names])
  })
  afterAll(async () => {
    await dropNamespace(api, namespace)
    await api.close()
  })

  it('are read with what counts of them, and are nothing where there are none', async () => {
    const env = [{ name: 'SVC_WORKSPACE_BOOTSTRAP_TOKEN', valueFrom: { secretKeyRef: { name: 'a', key: 'token' } } }]
    const labels = { 'svc.ai/execution-workspace': 'true', 'svc.ai/workspace-provider': 'actor' }
    const marks = { 'svc.ai/workspace-protocol': 'http-json-v1', 'svc.ai/workspace-daemon-port': '80' }
    const poolMarks = { 'svc.ai/actor-template': 'agents', 'svc.ai/target-actors': '1' }
    await apply([
      {
        apiVersion,
        kind: 'ActorTemplate',
        metadata: { name: 'agents', namespace, labels, annotations: marks },
        spec: { containers: [{ name: 'agent', image: 'a@sha256:b', env }] },
      },
      {
        apiVersion,
        kind: 'WorkerPool',
        metadata: { name: 'warm', namespace, labels: { 'svc.ai/actor-pool': 'warm' }, annotations: poolMarks },
        spec: { replicas: 1 },
      },
    ])
    const templates = createActorTemplates(api)
    const unready = await templates.template({ namespace, name: 'agents' })
    expect(unready && findTemplateProblem(unready)).toMatchObject({ reason: 'TemplateNotReady' })
    const ready = JSON.stringify({ status: { phase: 'Ready' } })
    await kubectl(['patch', 'actortemplates.ate.dev/agents', '--subresource=status', '--type=merge', '-p', ready], {
      namespace,
    })
    const found = await templates.template({ namespace, name: 'agents' })
    expect(found).toMatchObject({ name: 'agents', namespace, labels, annotations: marks, phase: 'Ready' })
    expect(found && findTemplateProblem(found)).toBeUndefined()
    const pool = await templates.pool({ namespace, name: 'warm' })
    expect(pool && findPoolProblem(pool, { namespace, name: 'agents' })).toBeUndefined()
    expect(await templates.template({ namespace, name: 'none' })).toBeUndefined()
    expect(await templates.pool({ namespace, name: 'none' })).toBeUndefined()
  })
})
