// Which language a file is written in, by its name alone, or by its first line when the name has no ending.
import { baseNameOf, endingOf } from './tree-paths.ts'

/** A language that review slices are cut by. `text` stands for what people write settings and templates in. */
export type Language =
  | 'go'
  | 'javascript'
  | 'typescript'
  | 'tsx'
  | 'python'
  | 'java'
  | 'kotlin'
  | 'scala'
  | 'groovy'
  | 'ruby'
  | 'php'
  | 'csharp'
  | 'fsharp'
  | 'vb'
  | 'rust'
  | 'c'
  | 'cpp'
  | 'swift'
  | 'objc'
  | 'dart'
  | 'elixir'
  | 'erlang'
  | 'clojure'
  | 'lua'
  | 'perl'
  | 'r'
  | 'solidity'
  | 'shell'
  | 'powershell'
  | 'sql'
  | 'terraform'
  | 'schema'
  | 'template'
  | 'page'
  | 'settings'

const endings: Record<Language, string> = {
  go: 'go',
  javascript: 'js jsx mjs cjs',
  typescript: 'ts mts cts',
  tsx: 'tsx',
  python: 'py pyw',
  java: 'java',
  kotlin: 'kt kts',
  scala: 'scala sc',
  groovy: 'groovy gradle',
  ruby: 'rb rake gemspec ru',
  php: 'php phtml php5 inc',
  csharp: 'cs',
  fsharp: 'fs fsx',
  vb: 'vb',
  rust: 'rs',
  c: 'c h',
  cpp: 'cc cpp cxx hpp hh hxx',
  swift: 'swift',
  objc: 'm mm',
  dart: 'dart',
  elixir: 'ex exs',
  erlang: 'erl hrl',
  clojure: 'clj cljs cljc',
  lua: 'lua',
  perl: 'pl pm',
  r: 'r',
  solidity: 'sol',
  shell: 'sh bash zsh ksh',
  powershell: 'ps1 psm1 bat cmd',
  sql: 'sql',
  terraform: 'tf hcl',
  schema: 'proto graphql gql thrift',
  template:
    'jsp jspx tag ejs erb haml hbs handlebars mustache jinja jinja2 j2 njk twig liquid tmpl tpl gohtml cshtml razor ftl vm pug slim vue svelte astro',
  page: 'html htm xhtml',
  settings: 'yaml yml toml cfg ini conf properties config',
}

const byEnding = new Map(
  Object.entries(endings).flatMap(([language, words]) =>
    words.split(' ').map((ending) => [ending, language as Language] as const),
  ),
)

/** Files that are known by their whole name. */
const byName = new Map<string, Language>([
  ['jenkinsfile', 'groovy'],
  ['rakefile', 'ruby'],
  ['gemfile', 'ruby'],
  ['vagrantfile', 'ruby'],
])

const interpreters: [RegExp, Language][] = [
  [/\b(ba|da|k|z|a)?sh\b/, 'shell'],
  [/\bpython[\d.]*\b/, 'python'],
  [/\b(node|deno|bun)\b/, 'javascript'],
  [/\bruby\b/, 'ruby'],
  [/\bperl\b/, 'perl'],
  [/\bphp\b/, 'php'],
  [/\blua\b/, 'lua'],
]

export function isScript(language: Language): boolean {
  return language === 'javascript' || language === 'typescript' || language === 'tsx'
}

/** Undefined: no language that is reviewed. */
export function languageOf(path: string): Language | undefined {
  return byName.get(baseNameOf(path).toLowerCase()) ?? byEnding.get(endingOf(path))
}

/** By the `#!` of a file without an ending. */
export function languageOfScript(text: string): Language | undefined {
  if (!text.startsWith('#!')) return undefined
  const line = text.slice(0, 200).split('\n', 1)[0] ?? ''
  return interpreters.find(([pattern]) => pattern.test(line))?.[1]
}

/** What people call it. */
export function titleOf(language: Language): string {
  const titles: Partial<Record<Language, string>> = {
    javascript: 'JavaScript',
    typescript: 'TypeScript',
    tsx: 'TypeScript',
    php: 'PHP',
    csharp: 'C#',
    fsharp: 'F#',
    vb: 'Visual Basic',
    cpp: 'C++',
    c: 'C',
    objc: 'Objective-C',
    sql: 'SQL',
    page: 'HTML',
  }
  return titles[language] ?? `${language[0]?.toUpperCase()}${language.slice(1)}`
}
