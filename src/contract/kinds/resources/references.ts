// How one resource names another, a Secret, a ConfigMap, a repository or a web address.
import { z } from 'zod'
import { exactlyOne, field, publishedMark } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { ForeignName, Name } from './metadata.ts'

export const referenceMark = 'x-svc-reference'

/** What a resource can name only if its author may read it (SECRET-004). */
export type ReferenceTarget = 'Secret' | 'ConfigMap' | 'Agent' | 'Provider' | 'Task'

/** Marks an object with `name` and perhaps `namespace` as a reference; every entry point uses the marks (`reference-paths.ts`). */
export function refersTo<S extends z.ZodType>(target: ReferenceTarget, schema: S): S {
  return schema.meta({ [referenceMark]: target }) as S
}

/** An Agent, Provider or Task, by default in the namespace of the resource that names it. */
const ResourceRef = z.strictObject({
  name: field(Name, 'Name of the resource.', 'main'),
  namespace: field(
    Name.optional(),
    'Namespace of the resource. Without it: the namespace of the resource that refers to it.',
    'team-a',
  ),
})
export type ResourceRef = z.infer<typeof ResourceRef>

/** Names an Agent. */
export const AgentRef = refersTo('Agent', ResourceRef)
/** Names a Provider. */
export const ProviderRef = refersTo('Provider', ResourceRef)
/** Names a Task. */
export const TaskRef = refersTo('Task', ResourceRef)

/** A provider that takes over from another, and the model to request; absent: its default model. */
export const ModelFallback = z.strictObject({
  providerRef: field(ProviderRef, 'Provider to try.'),
  model: field(
    limitedText(256).min(1, 'must not be empty').optional(),
    'Model to ask that provider for. Without it: its `defaultModel`.',
    'small-model',
  ),
})
export type ModelFallback = z.infer<typeof ModelFallback>

/** A whole Secret of the same namespace. */
export const SecretRef = refersTo(
  'Secret',
  z.strictObject({ name: field(ForeignName, 'Name of the Secret.', 'build-keys') }),
)
export type SecretRef = z.infer<typeof SecretRef>

/** Key of a Secret or ConfigMap entry. */
export const EntryKey = limitedText(253)
  .min(1, 'must not be empty')
  .regex(/^[-._a-zA-Z0-9]+$/, 'must be letters, digits, "-", "_" and "."')

/** One entry of a Secret of the same namespace. */
export const SecretKeyRef = refersTo(
  'Secret',
  z.strictObject({
    name: field(ForeignName, 'Name of the Secret.', 'weather-key'),
    key: field(EntryKey, 'Entry of the Secret.', 'token'),
  }),
)
export type SecretKeyRef = z.infer<typeof SecretKeyRef>

/** One entry of a ConfigMap of the same namespace. */
export const ConfigMapKeyRef = refersTo(
  'ConfigMap',
  z.strictObject({
    name: field(ForeignName, 'Name of the ConfigMap.', 'prompts'),
    key: field(EntryKey, 'Entry of the ConfigMap.', 'reviewer.md'),
  }),
)
export type ConfigMapKeyRef = z.infer<typeof ConfigMapKeyRef>

/** A policy text in a ConfigMap that carries `svc.ai/security-policy: "true"`. */
export const PolicyRef = refersTo(
  'ConfigMap',
  z.strictObject({
    name: field(ForeignName, 'Name of the ConfigMap.', 'scan-policies'),
    key: field(EntryKey.default('policy'), 'Entry of the ConfigMap.', 'policy'),
  }),
)
export type PolicyRef = z.infer<typeof PolicyRef>

function isWebAddress(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
}

/** An http or https address without user name and password. Whether it may be dialled is checked when it is. */
export const WebAddress = limitedText(2048)
  .refine(isWebAddress, 'must be an http or https address without user name and password')
  .meta({ example: 'https://example.com/path', [publishedMark]: { format: 'uri' } })
export type WebAddress = z.infer<typeof WebAddress>

/** A Skill by name or Markdown from a ConfigMap, exactly one of them. */
export const SkillRef = z
  .strictObject({
    name: field(Name.optional(), 'Name of a Skill.', 'release-notes'),
    configMapRef: field(ConfigMapKeyRef.optional(), 'Entry of a ConfigMap that holds the text of the skill.'),
  })
  .refine((ref) => (ref.name === undefined) !== (ref.configMapRef === undefined), 'needs either name or configMapRef')
  .meta({
    [publishedMark]: exactlyOne('name', 'configMapRef'),
    'x-kubernetes-validations': [
      { rule: 'has(self.name) != has(self.configMapRef)', message: 'needs either name or configMapRef' },
    ],
  })
export type SkillRef = z.infer<typeof SkillRef>

/** Name of a built-in or custom tool. */
export const ToolName = limitedText(63)
  .min(1, 'must not be empty')
  .regex(/^[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/, 'must be the name of a tool: lower-case letters, digits, "_" and "-"')
export type ToolName = z.infer<typeof ToolName>

const maxDepth = 64

function isShallow(value: unknown): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > maxDepth) return false
    level = level.flatMap((entry) => (typeof entry === 'object' && entry !== null ? Object.values(entry) : []))
  }
  return true
}

/** An object that the service stores unchanged, nested at most 64 levels deep, because deeper ones break recursive readers. */
export const FreeForm = z
  .record(z.string(), z.unknown())
  .refine(isShallow, `must not be nested deeper than ${maxDepth} levels`)
export type FreeForm = z.infer<typeof FreeForm>
