// Skills that come from a repository: read on request, and pinned to the commit that was read.
import { readGitLogin } from '../catalog/git-login.ts'
import { readSpec } from '../contract/api/spec-input.ts'
import { readGitAddress } from '../contract/git-address.ts'
import { dropUndefined } from '../contract/json.ts'
import { type Skill, type SkillSource, type SkillSpec, skillLimits } from '../contract/resources/skill.ts'
import { refuse } from '../contract/validation.ts'
import { type ErrorReason, SvcError } from '../errors.ts'
import { CheckoutError, type CheckoutFault } from '../ports/checkouts.ts'
import type { Caller } from '../ports/identity.ts'
import type { ReadFolder } from '../ports/repository-folders.ts'
import type { ResourceKey } from '../ports/resources.ts'
import { hashSkill } from '../rules/skill-content.ts'
import { readSkillFolder, readSkillText } from '../rules/skill-folder.ts'
import { requireAccess } from './access.ts'
import { requireReferences } from './admission/references.ts'
import type { UsecaseDeps } from './deps.ts'
import { notFound, type ResourceUsecases } from './resources.ts'
import { createSlots } from './slots.ts'

export type SkillUsecases = {
  /**
   * Reads a skill anew from `source`, else from its own; one that does not exist is made with a `source`. NotFound,
   * Forbidden, InvalidRequest, NotConfigured, TooManyRequests; UpstreamFailed when the repository cannot be read; the
   * errors of writing.
   */
  refresh(caller: Caller, key: ResourceKey, source: SkillSource | undefined): Promise<Skill>
}

const owner = 'spec.source.secretRef'
const mostBytes = 1_048_576
const never = new AbortController().signal

const reasonOf: Partial<Record<CheckoutFault, ErrorReason>> = {
  AddressRefused: 'Forbidden',
  GitMissing: 'NotConfigured',
  DiskFull: 'StorageFull',
  Unreachable: 'UpstreamFailed',
  TooSlow: 'UpstreamFailed',
  GitFailed: 'UpstreamFailed',
}

/** What a checkout cannot do is a matter of what it was asked for, unless it says otherwise. */
function explain(error: unknown): unknown {
  if (!(error instanceof CheckoutError)) return error
  return new SvcError(reasonOf[error.fault] ?? 'InvalidRequest', error.message, { cause: error })
}

export function createSkillUsecases(deps: UsecaseDeps, resources: ResourceUsecases): SkillUsecases {
  const { ports } = deps
  const slots = createSlots('refreshes of skills', { most: 4, perNamespace: 4, perCaller: 2 })

  async function readSource(namespace: string, source: SkillSource): Promise<ReadFolder> {
    const { codehost = '', path, ref, secretRef } = source
    if (ports.repositoryFolders === undefined) {
      throw new SvcError('NotConfigured', 'this service reads no repositories')
    }
    const url = readGitAddress(codehost)
    const key = secretRef === undefined ? undefined : { namespace, name: secretRef.name }
    const credentials = key === undefined ? undefined : await readGitLogin(ports.secrets, key, { owner, url })
    const limits = { files: skillLimits.files + 1, bytes: mostBytes }
    try {
      const folder = dropUndefined({ url: codehost, path, ref, credentials })
      return await ports.repositoryFolders.read(folder, limits, never)
    } catch (error) {
      throw explain(error)
    }
  }

  async function makeSpec(before: Skill | undefined, source: SkillSource, read: ReadFolder): Promise<SkillSpec> {
    const texts = [...read.files].map(([path, bytes]) => [path, readSkillText(path, bytes)] as const)
    const { spec } = await readSkillFolder(source.path ?? 'the repository', Object.fromEntries(texts))
    const pin = {
      commit: read.commit,
      contentHash: hashSkill(spec.content),
      readAt: ports.clock.now().toISOString(),
    }
    const { value, problems } = readSpec('Skill', { ...before?.spec, ...spec, source: { ...source, ...pin } })
    refuse('skill', problems)
    return value as SkillSpec
  }

  async function write(
    caller: Caller,
    { name, namespace }: ResourceKey,
    { before, spec }: { before: Skill | undefined; spec: SkillSpec },
  ): Promise<Skill> {
    if (before === undefined) return resources.create(caller, 'Skill', { metadata: { name }, namespace, spec })
    const { resourceVersion } = before.metadata
    return resources.replace(caller, 'Skill', { name, namespace }, { metadata: { resourceVersion }, spec })
  }

  return {
    async refresh(caller, key, given) {
      await requireAccess(ports, caller, { verb: 'update', kind: 'Skill', ...key })
      const before = await ports.resources.get('Skill', key)
      const source = given ?? before?.spec.source
      if (source === undefined && before === undefined) throw notFound('Skill', key)
      if (source?.codehost === undefined) {
        throw new SvcError('InvalidRequest', `skill "${key.name}" comes from no repository: give a source.codehost`)
      }
      // Before anything is read with a Secret, and again when it is written.
      const named = { description: '-', content: { inline: '-' }, source }
      await requireReferences('Skill', { caller, ...key, spec: named }, deps)
      const free = slots.take({ caller, namespace: key.namespace })
      try {
        const spec = await makeSpec(before, source, await readSource(key.namespace, source))
        return await write(caller, key, { before, spec })
      } finally {
        free()
      }
    },
  }
}
