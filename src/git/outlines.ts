// Declarations by tree-sitter, compiled to WebAssembly: parsers see untrusted text, and reach nothing but their own memory.
// A grammar is loaded when the first file of its language comes.
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Language, Node, Parser } from 'web-tree-sitter'
import type { Declaration, Outlines } from '../ports/scans/source-trees.ts'

const grammars: Record<string, string> = {
  py: 'python',
  js: 'javascript',
  jsx: 'javascript',
  mjs: 'javascript',
  cjs: 'javascript',
  ts: 'typescript',
  mts: 'typescript',
  cts: 'typescript',
  tsx: 'tsx',
  go: 'go',
  java: 'java',
  rb: 'ruby',
  php: 'php',
  rs: 'rust',
  c: 'c',
  h: 'c',
  cc: 'cpp',
  cpp: 'cpp',
  hpp: 'cpp',
  cs: 'c_sharp',
  swift: 'swift',
  sol: 'solidity',
}

/** Kinds of nodes that declare something with a name, in all of these grammars. */
const declaring =
  /^(function|method|class|interface|trait|struct|enum|module|impl|constructor|contract|object|record|type|generator_function|singleton_method)(_definition|_declaration|_item|_specifier|_signature|_spec)?$/
/** A function that is the value of a name. */
const binding = /^(variable_declarator|assignment_expression|assignment|pair|public_field_definition|field_definition)$/
const valued = /^(arrow_function|function_expression|function|lambda|class)$/

/** UTF-16 units. A second of parsing is worth no more text: others wait meanwhile. */
const maxTextLength = 262_144

type Syntax = { Parser: typeof Parser; Language: typeof Language }

const require = createRequire(import.meta.url)

async function loadSyntax(): Promise<Syntax> {
  const syntax = await import('web-tree-sitter')
  await syntax.Parser.init()
  return syntax
}

/** C declares the name within one or more declarators. */
function findDeclarator(node: Node): Node | null {
  let inner = node.childForFieldName('declarator')
  for (let next = inner; next !== null; next = next.childForFieldName('declarator')) inner = next
  return inner
}

function nameOf(node: Node): string | undefined {
  const named = node.childForFieldName('name') ?? findDeclarator(node) ?? node.childForFieldName('type')
  return named?.text
}

function readBinding(node: Node): string | undefined {
  const value = node.childForFieldName('value') ?? node.childForFieldName('right')
  if (value === null || !valued.test(value.type)) return undefined
  const key = node.childForFieldName('name') ?? node.childForFieldName('left') ?? node.childForFieldName('key')
  return key?.text
}

function readDeclaration(node: Node): Declaration | undefined {
  const isBinding = binding.test(node.type)
  if (!isBinding && !declaring.test(node.type)) return undefined
  const name = isBinding ? readBinding(node) : nameOf(node)
  if (name === undefined || name.length > 120 || /\s/.test(name)) return undefined
  return { name, startLine: node.startPosition.row + 1, endLine: node.endPosition.row + 1 }
}

/** Nested deeper, code is made by a program. */
const maxDepth = 200

function collect(node: Node, found: Declaration[], depth = 0): void {
  const declaration = node.isNamed ? readDeclaration(node) : undefined
  if (declaration !== undefined) found.push(declaration)
  if (depth >= maxDepth) return
  for (const child of node.namedChildren) if (child !== null) collect(child, found, depth + 1)
}

/** One parser, used by one call after the other: parsing does not wait for anything. */
export function createOutlines(): Outlines {
  let syntax: Promise<Syntax> | undefined
  const languages = new Map<string, Promise<Language>>()

  async function loadLanguage(name: string): Promise<Language> {
    syntax ??= loadSyntax()
    const { Language: loader } = await syntax
    const folder = dirname(require.resolve('@repomix/tree-sitter-wasms/package.json'))
    return await loader.load(await readFile(join(folder, 'out', `tree-sitter-${name}.wasm`)))
  }

  return {
    async read(path, text) {
      const grammar = grammars[path.slice(path.lastIndexOf('.') + 1).toLowerCase()]
      if (grammar === undefined || text.length > maxTextLength) return undefined
      const loading = languages.get(grammar) ?? loadLanguage(grammar)
      languages.set(grammar, loading)
      const language = await loading
      syntax ??= loadSyntax()
      const parser = new (await syntax).Parser()
      try {
        const tree = parser.setLanguage(language).parse(text)
        if (tree === null) return undefined
        const found: Declaration[] = []
        collect(tree.rootNode, found)
        tree.delete()
        return found
      } finally {
        parser.delete()
      }
    },
  }
}
