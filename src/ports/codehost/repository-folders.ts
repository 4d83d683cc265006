// Folders of git repositories, read as texts. Nothing of what lies in a repository is run.
import type { CheckoutCredentials } from '../workspaces/checkouts.ts'

export type RepositoryFolder = {
  /** As for a checkout. */
  url: string
  /** Branch, tag or commit. Absent: the default branch. */
  ref?: string
  /** Relative, without `..`. Absent: the whole repository. */
  path?: string
  credentials?: CheckoutCredentials
}

export type FolderLimits = {
  files: number
  /** Of all files together. */
  bytes: number
}

export type ReadFolder = {
  /** Full id of the commit. */
  commit: string
  /** Content by path, relative to the folder. */
  files: Map<string, Buffer>
}

export interface RepositoryFolders {
  /** CheckoutError; InvalidRequest for a folder with links or more than the limits; the reason of `signal`. */
  read(folder: RepositoryFolder, limits: FolderLimits, signal: AbortSignal): Promise<ReadFolder>
}
