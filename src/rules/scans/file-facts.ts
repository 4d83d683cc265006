// What is kept of each file of a tree while it is read once: enough to cut slices, and no text.
import { listSpecifiers, type Specifier } from './import-specifiers.ts'
import { type Language, languageOf, languageOfScript } from './languages.ts'
import {
  decodeSource,
  isMinified,
  type LeftOutReason,
  leaveOutByBytes,
  leaveOutByPath,
  maxSourceBytes,
} from './left-out.ts'
import { baseNameOf, endingOf, parentFolderOf } from './tree-paths.ts'

/** The first line of a file at which it is entered; a route says more than a program, and that more than an export. */
type Entrypoint = { route?: string; command?: string; symbol?: string }

const scriptRoute =
  /\b(?:app|router|server|fastify|api)\.(?:get|post|put|patch|delete|all|use)\([ \t]*["'`](\/[^"'`\n]{0,200})["'`]/i
const decoratorRoute =
  /^[ \t]*@(?:[\w.]{1,60}\.)?(?:route|get|post|put|patch|delete|websocket|(?:Request|Get|Post|Put|Patch|Delete)Mapping|WebServlet|Path)\([^"'\n)]{0,80}["']([^"'\n]{0,200})["']/m
const goRoute =
  /\.(?:HandleFunc|Handle|GET|POST|PUT|PATCH|DELETE|Get|Post|Put|Patch|Delete|Any)\([ \t]*"((?:[A-Z]+ )?\/[^"\n]{0,200})"/

const routes: Partial<Record<Language, RegExp>> = {
  javascript: scriptRoute,
  typescript: scriptRoute,
  tsx: scriptRoute,
  python: decoratorRoute,
  java: decoratorRoute,
  kotlin: decoratorRoute,
  csharp: /^[ \t]*\[(?:Route|Http(?:Get|Post|Put|Patch|Delete))\("([^"\n]{0,200})"/m,
  go: goRoute,
  ruby: /^[ \t]*(?:get|post|put|patch|delete|match)[ \t]+["'](\/?[^"'\n]{1,200})["']/m,
  php: /\bRoute::(?:get|post|put|patch|delete|any|match)\([^"'\n]{0,40}["']([^"'\n]{1,200})["']/,
  rust: /(?:\.route\(|#\[(?:get|post|put|patch|delete)\()[ \t]*"([^"\n]{1,200})"/,
}

const scriptExport =
  /^export[ \t]+(?:default[ \t]+)?(?:async[ \t]+)?(?:abstract[ \t]+)?(?:function\*?|class|const|let|interface|type|enum)[ \t]+([\w$]{1,120})/m
const jvmExport =
  /^[ \t]*(?:public[ \t]+)?(?:abstract[ \t]+|final[ \t]+|sealed[ \t]+|data[ \t]+|open[ \t]+)*(?:class|interface|enum|record|object)[ \t]+(\w{1,120})/m

const symbols: Partial<Record<Language, RegExp>> = {
  javascript: scriptExport,
  typescript: scriptExport,
  tsx: scriptExport,
  python: /^(?:async[ \t]+)?(?:def|class)[ \t]+([A-Za-z]\w{0,120})/m,
  go: /^(?:func[ \t]+(?:\([^)\n]{0,120}\)[ \t]*)?|type[ \t]+)([A-Z]\w{0,120})/m,
  java: jvmExport,
  kotlin: jvmExport,
  scala: jvmExport,
  csharp: jvmExport,
  swift: jvmExport,
  ruby: /^[ \t]*(?:class|module)[ \t]+([\w:]{1,120})/m,
  php: /^[ \t]*(?:abstract[ \t]+|final[ \t]+)?(?:class|interface|trait|function)[ \t]+(\w{1,120})/m,
  rust: /^[ \t]*pub(?:\([\w: ]+\))?[ \t]+(?:async[ \t]+|unsafe[ \t]+)*(?:fn|struct|enum|trait)[ \t]+(\w{1,120})/m,
  c: /^[A-Za-z_][\w \t*]{0,80}[ \t*](\w{1,80})\([^;\n]{0,200}\)[ \t]*(?:\{[ \t]*)?$/m,
  cpp: /^[A-Za-z_][\w \t*:<>&]{0,80}[ \t*&]([\w:]{1,80})\([^;\n]{0,200}\)[ \t]*(?:\{[ \t]*)?$/m,
}

const programs: Partial<Record<Language, RegExp>> = {
  python: /^if __name__ ==/m,
  go: /^func main\(\)/m,
  java: /\bpublic static void main\(/,
  rust: /^(?:async )?fn main\(\)/m,
  c: /^int main\(/m,
  cpp: /^int main\(/m,
}

/** Undefined: the file declares nothing that others enter. */
function findEntrypoint(language: Language, text: string): Entrypoint | undefined {
  const route = routes[language]?.exec(text)?.[1]
  const symbol = symbols[language]?.exec(text)?.[1]
  const named = symbol === undefined ? {} : { symbol }
  if (route !== undefined) return { route: route === '' ? '/' : route, ...named }
  if (programs[language]?.test(text) || (language === 'shell' && text.startsWith('#!')))
    return { command: 'main', ...named }
  return symbol === undefined ? undefined : named
}

/** A file of a tree, without its content. */
export type TreeFile = {
  /** Relative to the root of the repository, with `/`. */
  path: string
  bytes: number
  kind: 'file' | 'link' | 'submodule' | 'unreadable'
}

/** What a file is to the slices. */
type FileRole = 'source' | 'workflow' | 'config'

export type FileFacts = {
  path: string
  bytes: number
  /** At least 1. */
  lines: number
  /** First lines of the parts of a file that is too large for one slice. */
  partStarts?: number[]
  language: Language
  role: FileRole
  specifiers: Specifier[]
  entrypoint?: Entrypoint
  /** Of a package.json or go.mod: what others call the folder it lies in. */
  packageName?: string
  /** Of a package.json: the scripts that test, lint, check and build. */
  scripts?: string[]
}

/** A file that is not reviewed, and why. */
export type LeftOut = { path: string; reason: LeftOutReason }

const workflowNames =
  /^(\.gitlab-ci\.ya?ml|azure-pipelines\.ya?ml|bitbucket-pipelines\.ya?ml|\.travis\.ya?ml|jenkinsfile|action\.ya?ml)$/i
const workflowPaths = /^\.github\/workflows\/[^/]+\.ya?ml$|^(?:.*\/)?\.circleci\/config\.ya?ml$/i
const configNames =
  /^(dockerfile([._-].*)?|gnumakefile|makefile|go\.mod|package\.json|composer\.json|pipfile|requirements.*\.txt|procfile|caddyfile|\.htaccess|firestore\.rules|(pom|web|struts|persistence|androidmanifest|applicationcontext)\.xml)$/i
const configEndings =
  /(\.dockerfile|(^|\.)containerfile|\.mk|(config|policy|permissions|settings)\.json|(config|security|context|settings)\.xml)$/i

/** Names of pages that hold only markup say nothing of a program. */
const pageCode = /\{\{|\{%|<%|<\?|<script\b|\bon\w{3,20}=|\bth:|v-html/i

function roleOf(path: string, language: Language | undefined): FileRole | undefined {
  const name = baseNameOf(path)
  if (workflowNames.test(name) || workflowPaths.test(path)) return 'workflow'
  if (language === 'settings' || configNames.test(name) || configEndings.test(name)) return 'config'
  return language === undefined ? undefined : 'source'
}

/** No project has them; a made-up tree with folders without end would keep whoever looks in each of them busy. */
const maxPathLength = 1024
const maxFolders = 64

const isTooDeep = (path: string) =>
  path.length > maxPathLength || path.split('/', maxFolders + 2).length > maxFolders + 1

/** Whether a file may be one to review, before it is read. */
export function leaveOutFile({ path, bytes, kind }: TreeFile): LeftOutReason | undefined {
  if (kind !== 'file') return kind
  if (isTooDeep(path)) return 'unreadable'
  const reason = leaveOutByPath(path)
  if (reason !== undefined) return reason
  const mayBeScript = endingOf(path) === '' && bytes > 0
  if (roleOf(path, languageOf(path)) === undefined && !mayBeScript) return 'not-source'
  return bytes > maxSourceBytes ? 'too-large' : undefined
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

/** Bytes of a file, or of its files together, that one slice owns: they fit into a review context beside some of others. */
export const maxOwnedBytes = 73_728

/** Parts of whole lines, none larger than a slice takes unless one line is. */
function cutLines(text: string): number[] {
  const starts = [1]
  let bytes = 0
  for (const [at, line] of text.split('\n').entries()) {
    const size = Buffer.byteLength(line) + 1
    if (bytes > 0 && bytes + size > maxOwnedBytes) {
      starts.push(at + 1)
      bytes = 0
    }
    bytes += size
  }
  return starts
}

const telling = ['test', 'lint', 'typecheck', 'build']

function readPackage(path: string, text: string): Pick<FileFacts, 'packageName' | 'scripts'> {
  if (baseNameOf(path) === 'go.mod') {
    const name = /^module[ \t]+(\S{1,300})/m.exec(text)?.[1]
    return name === undefined ? {} : { packageName: name }
  }
  if (baseNameOf(path) !== 'package.json') return {}
  const { name, scripts } = parseObject(text)
  const known = typeof scripts === 'object' && scripts !== null ? Object.keys(scripts) : []
  return {
    ...(typeof name === 'string' && name !== '' ? { packageName: name } : {}),
    scripts: telling.filter((script) => known.includes(script)),
  }
}

function countLines(text: string): number {
  let lines = 1
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1
  return text.endsWith('\n') && lines > 1 ? lines - 1 : lines
}

/** Why a text of a known name is none to review after all. */
function leaveOutText(
  text: string,
  lines: number,
  known: { role: FileRole; language: Language },
): LeftOutReason | undefined {
  if (known.language === 'page' && !pageCode.test(text)) return 'not-source'
  return known.role === 'source' && isMinified(text, lines) ? 'generated' : undefined
}

function readNames(language: Language, text: string): Pick<FileFacts, 'specifiers' | 'entrypoint'> {
  const entrypoint = findEntrypoint(language, text)
  return { specifiers: listSpecifiers(language, text), ...(entrypoint && { entrypoint }) }
}

/** Reads a file that `leaveOut` keeps; a reason when its bytes show that it is none to review. */
export function readFileFacts(path: string, content: Uint8Array): FileFacts | LeftOutReason {
  const reason = leaveOutByBytes(content)
  if (reason !== undefined) return reason
  const text = decodeSource(content)
  const found = languageOf(path) ?? languageOfScript(text)
  const role = roleOf(path, found)
  if (role === undefined) return 'not-source'
  const language = found ?? 'settings'
  const lines = countLines(text)
  const parts = content.length > maxOwnedBytes ? { partStarts: cutLines(text) } : {}
  const shape = { path, bytes: content.length, lines, ...parts, language, role }
  const none = leaveOutText(text, lines, shape)
  if (none !== undefined) return none
  return {
    ...shape,
    ...(role === 'source' ? readNames(language, text) : { specifiers: [] }),
    ...readPackage(path, text),
  }
}

const testFolders = new Set(['test', 'tests', '__tests__', 'spec', 'specs', 'testdata', 'e2e', '__mocks__', 'fixtures'])
const testNames =
  /(_test\.go|\.(test|spec|e2e|stories)\.[a-z]+|_spec\.rb|_test\.(rb|py|exs|dart)|(Test|Tests|TestCase|IT)\.(java|kt|scala|groovy|cs|php|swift))$|^(test_.*\.py|conftest\.py)$/

/** By the usual names of tests, which no compiler checks: what other code imports is no test, whatever its name. */
export function looksLikeTest(path: string): boolean {
  if (testNames.test(baseNameOf(path))) return true
  return parentFolderOf(path)
    .toLowerCase()
    .split('/')
    .some((name) => testFolders.has(name))
}
