// What of a tree is not reviewed, and why. Everything that is left out is counted: nothing disappears unsaid.
//
// A text cannot hide itself: what a comment or an attribute of the repository says ("generated", "vendored") counts for
// nothing, only the place and the name of a file do, and what its bytes are.
import { languageOf } from './languages.ts'
import { baseNameOf, endingOf, parentFolderOf } from './tree-paths.ts'

export const leftOutReasons = [
  'vendored',
  'generated',
  'lock-file',
  'secret',
  'link',
  'submodule',
  'lfs-pointer',
  'too-large',
  'binary',
  'unreadable',
  'not-source',
] as const
export type LeftOutReason = (typeof leftOutReasons)[number]

/** Bytes; a larger file is left out, and counted as `too-large`. */
export const maxSourceBytes = 1_048_576

/** Folders that package managers, builds and tools fill. */
const vendoredFolders = new Set([
  'node_modules',
  'bower_components',
  'jspm_packages',
  'vendor',
  'third_party',
  'site-packages',
  'venv',
  '.venv',
  'virtualenv',
  'pods',
  'carthage',
])
const generatedFolders = new Set([
  '.git',
  '.hg',
  '.svn',
  'dist',
  'coverage',
  '.next',
  '.nuxt',
  '.svelte-kit',
  'target',
  '__pycache__',
  '.cache',
  '.mypy_cache',
  '.pytest_cache',
  '.ruff_cache',
  '.tox',
  '.gradle',
  '.terraform',
  '.idea',
])
const generatedNames =
  /(\.pb\.(go|cc|h)|_pb2(_grpc)?\.pyi?|\.(g|gen|generated|designer)\.[a-z]+|_generated\.[a-z]+|\.min\.(js|css)|-min\.js|\.bundle\.js|\.d\.ts|\.map)$|^zz_generated/i
const lockFiles = new Set([
  'package-lock.json',
  'npm-shrinkwrap.json',
  'yarn.lock',
  'pnpm-lock.yaml',
  'bun.lockb',
  'go.sum',
  'go.work.sum',
  'poetry.lock',
  'pipfile.lock',
  'uv.lock',
  'cargo.lock',
  'composer.lock',
  'gemfile.lock',
  'pubspec.lock',
  'packages.lock.json',
  'gradle.lockfile',
])
const secretNames =
  /^(\.env($|[.-])|id_(rsa|dsa|ecdsa|ed25519)($|\.)|\.netrc$|\.npmrc$|\.pypirc$|\.htpasswd$|\.git-credentials$)/i
const secretEndings = new Set(['pem', 'key', 'p12', 'pfx', 'jks', 'keystore', 'kdbx', 'ppk', 'asc', 'gpg'])
const secretWords = /(^|[._-])(secrets?|credentials?|passwords?|private[._-]?keys?)([._-]|$)/i

/** A source file may be called by what it deals with (`secrets.ts`); one of settings or data may hold them. */
function isSecret(path: string): boolean {
  const name = baseNameOf(path)
  if (secretNames.test(name) || secretEndings.has(endingOf(path))) return true
  const language = languageOf(path)
  const isCode = language !== undefined && language !== 'settings'
  return !isCode && path.split('/').some((part) => secretWords.test(part))
}

/** By the path alone; undefined: it is worth reading. */
export function leaveOutByPath(path: string): LeftOutReason | undefined {
  const folders = parentFolderOf(path).toLowerCase().split('/')
  if (folders.some((name) => vendoredFolders.has(name))) return 'vendored'
  if (folders.some((name) => generatedFolders.has(name))) return 'generated'
  if (lockFiles.has(baseNameOf(path).toLowerCase())) return 'lock-file'
  if (isSecret(path)) return 'secret'
  return generatedNames.test(baseNameOf(path)) ? 'generated' : undefined
}

const lfsPointer = 'version https://git-lfs.github.com/spec/v1\n'
/** Bytes within which a NUL makes a file a binary one, as for git. */
const sniffed = 8000

/** Undefined: the bytes are text. */
export function leaveOutByBytes(bytes: Uint8Array): LeftOutReason | undefined {
  const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
  if (!isUtf16 && bytes.subarray(0, sniffed).includes(0)) return 'binary'
  const isPointer = bytes.length < 1024 && bytes[0] === 0x76 && latin1.decode(bytes).startsWith(lfsPointer)
  return isPointer ? 'lfs-pointer' : undefined
}

/** Characters to a line, on average, that nobody writes by hand. */
const minifiedLine = 400
const minMinifiedBytes = 16_384
/** A file with more of them has code that people read, whatever stands beside it. */
const maxMinifiedLines = 20

/** Whether a program wrote it on a few endless lines: measured, not claimed. */
export function isMinified(text: string, lines: number): boolean {
  return lines <= maxMinifiedLines && text.length >= minMinifiedBytes && text.length / lines > minifiedLine
}

const latin1 = new TextDecoder('latin1')
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** UTF-8, else UTF-16 by its mark, else one byte to a character: every byte stays visible. */
export function decodeSource(bytes: Uint8Array): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  try {
    return utf8.decode(bytes)
  } catch {
    return latin1.decode(bytes)
  }
}
