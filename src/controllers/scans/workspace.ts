// The working copies of those who validate, repair and try.

import type { RepositoryScan } from '../../contract/kinds/scans/repository-scan.ts'
import { dropUndefined } from '../../contract/schema/json.ts'

/** Tools of validators and authors of patches: none of them reaches a network. */
export const workspaceTools = ['file_read', 'file_write', 'code_exec']

/** `commit`: at which the finding was seen. */
export function workspaceOf({ spec }: RepositoryScan, commit: string | undefined) {
  const { repoURL: gitRepo, gitSecretRef, subPath, branch } = spec
  const place = commit === undefined ? { branch, ref: spec.ref } : { ref: commit }
  return dropUndefined({ gitRepo, ...place, gitSecretRef, subPath })
}
