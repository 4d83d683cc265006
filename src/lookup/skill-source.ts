// The content of a skill as its source has it now.
import { readSpec } from '../contract/api/resources/spec-input.ts'
import { type SkillSource, type SkillSpec, skillLimits } from '../contract/kinds/tools/skill.ts'
import { dropUndefined } from '../contract/schema/json.ts'
import { refuse } from '../contract/schema/validation.ts'
import { readGitAddress } from '../contract/values/git-address.ts'
import { type ErrorReason, SvcError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import type { CodeHosts } from '../ports/codehost/code-host.ts'
import type { ReadFolder, RepositoryFolders } from '../ports/codehost/repository-folders.ts'
import type { Secrets } from '../ports/resources/secrets.ts'
import { CheckoutError, type CheckoutFault } from '../ports/workspaces/checkouts.ts'
import { hashSkill } from '../rules/tools/skill-content.ts'
import { readSkillFolder, readSkillText } from '../rules/tools/skill-folder.ts'
import { readGitLogin } from './git-login.ts'

export type SkillSourcePorts = {
  secrets: Secrets
  clock: Clock
  repositoryFolders?: RepositoryFolders | undefined
  /** Absent: Secrets of Apps cannot be used. */
  codeHosts?: CodeHosts | undefined
}

const owner = 'spec.source.secretRef'
const mostBytes = 1_048_576

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

async function readFolder(
  { secrets, repositoryFolders, codeHosts }: SkillSourcePorts,
  namespace: string,
  source: SkillSource,
  signal: AbortSignal,
): Promise<ReadFolder> {
  const { codehost = '', path, ref, secretRef } = source
  if (repositoryFolders === undefined) throw new SvcError('NotConfigured', 'this service reads no repositories')
  const url = readGitAddress(codehost)
  const key = secretRef === undefined ? undefined : { namespace, name: secretRef.name }
  const credentials = key === undefined ? undefined : await readGitLogin(secrets, key, { owner, url, codeHosts })
  const limits = { files: skillLimits.files + 1, bytes: mostBytes }
  try {
    const folder = dropUndefined({ url: codehost, path, ref, credentials })
    return await repositoryFolders.read(folder, limits, signal)
  } catch (error) {
    throw explain(error)
  }
}

/**
 * The spec with what the source has now, pinned to its commit. InvalidRequest, NotFound, NotConfigured, Forbidden; UpstreamFailed
 * or StorageFull when the repository cannot be read now. The rights to the Secret are the caller's to check.
 */
export async function readSkillSource(
  ports: SkillSourcePorts,
  { namespace, before, source }: { namespace: string; before: SkillSpec | undefined; source: SkillSource },
  signal: AbortSignal,
): Promise<SkillSpec> {
  const { files, commit } = await readFolder(ports, namespace, source, signal)
  const texts = [...files].map(([path, bytes]) => [path, readSkillText(path, bytes)] as const)
  const { spec } = await readSkillFolder(source.path ?? 'the repository', Object.fromEntries(texts))
  const pin = { commit, contentHash: hashSkill(spec.content), readAt: ports.clock.now().toISOString() }
  const { value, problems } = readSpec('Skill', { ...before, ...spec, source: { ...source, ...pin } })
  refuse('skill', problems)
  return value as SkillSpec
}
