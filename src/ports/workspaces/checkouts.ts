// Working copies of git repositories: prepared for an attempt; read, committed and pushed when its program has ended.

/** Sent to the origin (scheme, host and port) of `url` only; never seen by git or by what runs in the folder. */
export type CheckoutCredentials = {
  username?: string
  password: string
  /** From the Secret's annotation (SECRET-006): with them, only these hosts are dialled. */
  allowedHosts?: string[]
}

export type CheckoutLimits = {
  /** Bytes and files of the work tree, and bytes that are fetched. Default: 10 GiB and 1 Mi files. */
  bytes: number
  files: number
  /** For each operation. Default: 10 minutes. */
  timeoutMs: number
  /** How many commits of history are fetched. Default: 50. */
  history: number
  /** Bytes of a readable diff. Default: 1 MiB. */
  diffBytes: number
}

export type CheckoutSpec = {
  /** `https://host/path` or `http://…`; `git@host:path` and `ssh://` stand for https. Without credentials in it. */
  url: string
  /** Absent: the default branch, unless `ref` is set. */
  branch?: string
  /** Tag, branch or full commit id. With `branch`: the commit that the local branch is at. */
  ref?: string
  /** A folder of the repository that must exist: where the work is done. The whole repository is checked out. */
  subPath?: string
  /** Where changes are pushed instead of `url`. Gets the credentials only if its origin is that of `url`. */
  forkRepo?: string
  pushBranch?: string
  /** Fetched as well, so that work can be compared with it. */
  prBaseBranch?: string
  /** Whether files that the repository keeps by pointers (Git LFS) are fetched. */
  lfs?: boolean
  /** A patch that is applied first. It is part of this checkout's diff. */
  priorDiff?: string
  /** Of that patch, only the changes of these files. */
  priorPaths?: string[]
  credentials?: CheckoutCredentials
  /** Of commits. */
  author?: { name: string; email: string }
  limits?: Partial<CheckoutLimits>
}

export type ChangedFile = {
  path: string
  /** Where it was before, of a renamed file. */
  from?: string
  change: 'added' | 'changed' | 'removed' | 'renamed'
  /** Lines; 0 of a binary file. */
  added: number
  removed: number
  binary: boolean
  /** Why its change is not in `text`. */
  omitted?: string
}

export type CheckoutDiff = {
  /** Unified, with binary files as git writes them: `git apply` takes it. Whole files only, up to the limit. */
  text: string
  /** Every changed file, up to 10,000, also those not in `text`. */
  files: ChangedFile[]
  /** Whether any change is not in `text`. */
  truncated: boolean
  /** Folders that are git repositories of their own, and are therefore no part of the diff or a commit. */
  nested: string[]
  /** Folders that builds have left, and the repository does not track: no part of the diff or a commit either. */
  leftOut: string[]
}

export type CheckoutPush = { branch: string; commit: string }

/**
 * The folder's own `.git` belongs to the program in it: nothing here reads it, so that it may be changed or deleted.
 * The program must have ended before any of these is called.
 */
export interface Checkout {
  folder: string
  /** `folder`, or the folder `subPath` in it. */
  workFolder: string
  /** The branch that is checked out; absent when a tag or a commit is. */
  branch?: string
  /** The commit that was checked out. */
  baseSHA: string
  /** The commit of the last `commit`; at first `baseSHA`. */
  headSHA: string
  /** What differs between `baseSHA` and the files in the folder. Ignored files are left out. */
  diff(): Promise<CheckoutDiff>
  /** Commits the files in the folder on top of `baseSHA`. Undefined when nothing differs. */
  commit(message: string): Promise<string | undefined>
  /**
   * Pushes `headSHA` to `pushBranch`, forward only. `lease`: a commit that the branch may be at, and which is then
   * replaced: one that an earlier attempt pushed.
   */
  push(lease?: string): Promise<CheckoutPush>
  /** Forgets the checkout; the folder stays. Idempotent. */
  close(): Promise<void>
}

/** Shows files that never change in folders that keep their own changes of them. */
export interface SharedFiles {
  /** Whether `folder`, which is empty, could show files of that size. */
  canShow(folder: string, size: { bytes: number; files: number }): Promise<boolean>
  /** `files` must stay as it is for as long as anybody reads `folder`. Rejects when it is not shown; `folder` is empty then. */
  show(files: string, folder: string): Promise<void>
}

export interface Checkouts {
  /**
   * Fills `folder`, which is missing or empty. CheckoutError, or the reason of `signal`; the folder may have content.
   * With `shared`, files of a commit are written once for all checkouts of it.
   */
  prepare(spec: CheckoutSpec, folder: string, signal: AbortSignal, shared?: SharedFiles): Promise<Checkout>
  /** The checkout of a folder that was prepared by this or an earlier process and not closed; undefined: there is none. */
  resume(spec: CheckoutSpec, folder: string): Promise<Checkout | undefined>
  /**
   * Removes what closed or forgotten checkouts left, and objects of repositories beyond the cache's limit; returns how
   * many of them. Checkouts that there are keep what they have.
   */
  clean(): Promise<number>
}

export const checkoutFaults = [
  'AddressUnsupported',
  'AddressRefused',
  'Unreachable',
  'RepositoryMissing',
  'LoginNeeded',
  'RepositoryEmpty',
  'RefMissing',
  'PathMissing',
  'PatchRefused',
  'TooLarge',
  'TooSlow',
  'DiskFull',
  'PushProtected',
  'PushBehind',
  'PushBranchGone',
  'SigningFailed',
  'GitMissing',
  'GitFailed',
] as const
export type CheckoutFault = (typeof checkoutFaults)[number]

/** Why there is no checkout, diff, commit or push; the message says what to do. */
export class CheckoutError extends Error {
  readonly fault: CheckoutFault

  constructor(fault: CheckoutFault, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'CheckoutError'
    this.fault = fault
  }
}
