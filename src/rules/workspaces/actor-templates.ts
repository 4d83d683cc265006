// Which templates and pools of actors can be used, and how actors are named.
import { createHash } from 'node:crypto'
import type { Tool } from '../../contract/kinds/tools/tool.ts'

/** What counts of an ActorTemplate (ate.dev/v1alpha1). */
export type ActorTemplate = {
  name: string
  namespace: string
  labels: Record<string, string>
  annotations: Record<string, string>
  /** Names of the variables that each of its containers has. */
  variables: readonly string[][]
  phase: string
}

/** What counts of a WorkerPool (ate.dev/v1alpha1) that people may name as a pool. */
export type ActorPool = {
  name: string
  namespace: string
  labels: Record<string, string>
  annotations: Record<string, string>
}

export const templateMarks = { 'svc.ai/execution-workspace': 'true', 'svc.ai/workspace-provider': 'actor' } as const
export const daemonProtocol = 'http-json-v1'
export const actorAnnotations = {
  protocol: 'svc.ai/workspace-protocol',
  port: 'svc.ai/workspace-daemon-port',
  root: 'svc.ai/workspace-staging-root',
  programs: 'svc.ai/agent-runtimes',
  /** On a pool: the template of its actors, `name` or `namespace/name`. */
  poolTemplate: 'svc.ai/actor-template',
  /** On a pool: how many actors it is meant for, 0 to 1000. */
  targetActors: 'svc.ai/target-actors',
} as const
/** The label by which the actor service finds the workers of one pool. */
export const actorPoolLabel = 'svc.ai/actor-pool'
export const bootstrapVariable = 'SVC_WORKSPACE_BOOTSTRAP_TOKEN'
const usualRoot = '/app'

type ProblemOf = 'TemplateNotReady' | 'TemplateIncompatible'
export type TemplateProblem = { reason: ProblemOf; message: string; isFinal: boolean }

function findMissing({ labels, annotations: notes, variables }: ActorTemplate): string[] {
  const port = Number(notes[actorAnnotations.port])
  const missing = Object.entries(templateMarks).flatMap(([name, value]) =>
    labels[name] === value ? [] : [`the label ${name}: "${value}"`],
  )
  if (notes[actorAnnotations.protocol] !== daemonProtocol)
    missing.push(`the annotation ${actorAnnotations.protocol}: ${daemonProtocol}`)
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    missing.push(`the annotation ${actorAnnotations.port} with a port`)
  if (!readRoot(notes).startsWith('/')) missing.push(`the annotation ${actorAnnotations.root} with an absolute path`)
  if (!variables.some((names) => names.includes(bootstrapVariable)))
    missing.push(`the variable ${bootstrapVariable} in a container`)
  return missing
}

/** Why no actor of the template can be had now; `isFinal`: nothing changes that but another template. */
export function findUnready({ name, namespace, phase }: ActorTemplate): TemplateProblem | undefined {
  if (phase === 'Ready') return undefined
  const message = `the actor template "${namespace}/${name}" is not ready (phase ${phase || 'unknown'})`
  return { reason: 'TemplateNotReady', message, isFinal: phase === 'Failed' }
}

/** Why the template cannot serve as an execution workspace; undefined when it can. */
export function findTemplateProblem(template: ActorTemplate, program?: string): TemplateProblem | undefined {
  const whose = `the actor template "${template.namespace}/${template.name}"`
  const missing = findMissing(template)
  if (missing.length > 0) {
    return { reason: 'TemplateIncompatible', message: `${whose} lacks ${missing.join(', ')}`, isFinal: true }
  }
  const programs = template.annotations[actorAnnotations.programs]?.split(',').map((one) => one.trim())
  if (program !== undefined && programs?.includes(program) !== true) {
    const has = programs === undefined ? 'names none' : `has ${programs.join(', ')}`
    const message = `${whose} has no agent program ${program}; its annotation ${actorAnnotations.programs} ${has}`
    return { reason: 'TemplateIncompatible', message, isFinal: true }
  }
  return findUnready(template)
}

/** The folder of staged files. */
export function readRoot(notes: Record<string, string>): string {
  return notes[actorAnnotations.root] ?? usualRoot
}

type Key = { name: string; namespace: string }

/** Why an actor of the template cannot come from the pool; undefined when it can. */
export function findPoolProblem(pool: ActorPool, template: Key): string | undefined {
  const whose = `the pool "${pool.namespace}/${pool.name}"`
  const named = pool.annotations[actorAnnotations.poolTemplate]
  const [last = '', first = pool.namespace] = (named ?? '').split('/').toReversed()
  if (named === undefined) return `${whose} names no template (annotation ${actorAnnotations.poolTemplate})`
  if (last !== template.name || first !== template.namespace) {
    return `${whose} has actors of template "${first}/${last}", not of "${template.namespace}/${template.name}"`
  }
  const target = Number(pool.annotations[actorAnnotations.targetActors])
  if (!Number.isInteger(target) || target < 1 || target > 1000) {
    return `${whose} is meant for no actors; its annotation ${actorAnnotations.targetActors} must be 1 to 1000`
  }
  return pool.labels[actorPoolLabel] === undefined ? `${whose} lacks the label ${actorPoolLabel}` : undefined
}

/** What a Tool with an actor says where there are none (MCP-014). */
export const actorsAreOff =
  'needs actors, which are not enabled on this service; its owner can set --actor-enabled (settings.actorEnabled of the chart). A server with an address is named by mcp.url'

function digest(parts: readonly unknown[], digits: number): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, digits)
}

/** What the names of all actors begin with that a Tool of this installation has had. */
function prefixOf({ metadata: { name, uid } }: Pick<Wished, 'metadata'>, installation: string): string {
  return `svc-tool-${name.replace(/[^a-z0-9]+/g, '-').slice(0, 24)}-${digest([installation, uid], 16)}-`
}

/** Whether an actor of that name is one that the Tool has had: a status may say anything. */
export function isActorOfTool(tool: Pick<Wished, 'metadata'>, actor: string, installation: string): boolean {
  const prefix = prefixOf(tool, installation)
  return actor.startsWith(prefix) && /^[0-9a-f]{8}$/.test(actor.slice(prefix.length))
}

type ActorOfTool = Key & { template: Key; pool?: Key; boot: boolean }
type Wished = { spec: Pick<Tool['spec'], 'mcp'>; metadata: { name: string; namespace: string; uid: string } }

/** As the port of such actors (`ports/tool-actors.ts`) says. */
export type ToolActorHome = {
  readonly templateNamespace: string | undefined
  readonly installation: string
  readonly isolated: boolean
}

/** The actor of a Tool with `mcp.actor`: another one as soon as it is to be made from something else. */
export function describeToolActor(
  tool: Wished,
  { templateNamespace, installation }: Pick<ToolActorHome, 'templateNamespace' | 'installation'>,
): ActorOfTool {
  const { namespace } = tool.metadata
  const { templateRef, poolRef, boot = false } = tool.spec.mcp?.actor ?? { templateRef: { name: '' } }
  const template = { name: templateRef.name, namespace: templateRef.namespace ?? templateNamespace ?? namespace }
  const pool = poolRef?.name ? { name: poolRef.name, namespace: poolRef.namespace ?? namespace } : undefined
  const from = digest([template.namespace, template.name, pool?.namespace, pool?.name], 8)
  const named = { name: `${prefixOf(tool, installation)}${from}`, namespace, template, boot }
  return pool === undefined ? named : { ...named, pool }
}

/** The host under which the router knows an actor. */
export function hostOfActor(actor: Key, dnsSuffix: string): string {
  return `${actor.name}.${actor.namespace}.${dnsSuffix}`
}
