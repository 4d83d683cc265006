// Trees of source files, read as they are at one commit. Nothing of what lies in them is run, followed or written.
import type { CheckoutCredentials } from '../workspaces/checkouts.ts'

/** A function, method or type; both lines included, from 1. */
export type Declaration = { name: string; startLine: number; endLine: number }

export interface Outlines {
  /** Outer ones before those within them. Undefined: there is no parser for the ending of this path, or the text is too long. */
  read(path: string, text: string): Promise<Declaration[] | undefined>
}

export type TreeEntry = {
  /** Relative to the root of the repository, with `/`. */
  path: string
  bytes: number
  /** `unreadable`: its name is not UTF-8, or it cannot be opened. */
  kind: 'file' | 'link' | 'submodule' | 'unreadable'
  /** Of its content, which never changes under the same id; absent of a folder that is no repository. */
  id?: string
}

/** Lines of the new file, from 1, both ends included. */
export type ChangedLines = { path: string; startLine: number; endLine: number }

export type TreeChanges = {
  /** New, changed, or under a new name; sorted. */
  changed: string[]
  /** Sorted. */
  removed: string[]
  /** New path to the former one. */
  renamed: Map<string, string>
  /** Absent: there are too many to say (2 MiB of diff, 20,000 lines or 2,000 ranges). */
  lines?: ChangedLines[]
}

/** What was learnt of the files of a repository, so that it need not be learnt again. It may be gone at any time. */
export interface TreeNotes {
  /** As it was written last; undefined: there is none. Nothing protects it from damage on the disk: carry a digest in it. */
  read(name: string): Promise<Buffer | undefined>
  /** Whole or not at all; one that is too large (64 MiB) or finds no space is not kept. */
  write(name: string, content: Buffer): Promise<void>
}

export interface SourceTree {
  /** Full id; absent of a folder that is no repository. */
  commit?: string
  /** Branch that the commit is the head of, where it was found by one. */
  branch?: string
  /** Of the repository; absent: nothing is kept. */
  notes?: TreeNotes
  /** Every file, link and submodule, in no particular order. */
  list(signal: AbortSignal): Promise<TreeEntry[]>
  /** Calls `take` once for each of these paths; without content for one that is no file, or gone. */
  readEach(
    paths: readonly string[],
    take: (path: string, content: Buffer | undefined) => void,
    signal: AbortSignal,
  ): Promise<void>
  /** What differs from an earlier commit; undefined when that is not there any more (a force-push). */
  changesSince(base: string, signal: AbortSignal): Promise<TreeChanges | undefined>
  /** Idempotent. */
  close(): Promise<void>
}

type SourceTreeSpec = {
  /** As for a checkout. */
  url: string
  /** Absent: the default branch, unless `ref` is set. */
  branch?: string
  ref?: string
  /** An earlier commit that changes are asked for since. It may be gone. */
  base?: string
  credentials?: CheckoutCredentials
}

export interface SourceTrees {
  /** CheckoutError, or the reason of `signal`. */
  open(spec: SourceTreeSpec, signal: AbortSignal): Promise<SourceTree>
}
