// What a file names of other files: found by its lines, without a parser, so that a tree of any size is read once. A name
// that stands in a comment is found as well; only those that lead to a file of the tree count, and only as context.
import type { Language } from './languages.ts'

/** A name as it stands in a file, and what kind of name it is. */
export type Specifier = { kind: 'module' | 'file' | 'folder' | 'template'; name: string }

/** Of one file: beyond it nothing is told apart anyway. */
const maxSpecifiers = 400

type Rule = [pattern: RegExp, kind: Specifier['kind']]

const script: Rule[] = [[/\b(?:from|import|require\(|import\()[ \t]*["'`]([^"'`\n]{1,300})["'`]/g, 'module']]
const jvm: Rule[] = [[/^[ \t]*import[ \t]+(?:static[ \t]+)?([\w.]{1,300})/gm, 'module']]
const quotedInclude: Rule[] = [[/^[ \t]*#[ \t]*include[ \t]*"([^"\n]{1,300})"/gm, 'file']]

const rules: Partial<Record<Language, Rule[]>> = {
  javascript: script,
  typescript: script,
  tsx: script,
  go: [[/^[ \t]*(?:import[ \t]+)?(?:[\w.]+[ \t]+)?"([\w./~-]{1,300})"[ \t]*$/gm, 'folder']],
  python: [
    [/^[ \t]*from[ \t]+([\w.]{1,300}[ \t]+import[ \t]+[\w, \t(]{1,300})/gm, 'module'],
    [/^[ \t]*import[ \t]+([\w., \t]{1,300})/gm, 'module'],
  ],
  java: jvm,
  kotlin: jvm,
  scala: jvm,
  groovy: jvm,
  ruby: [
    [/^[ \t]*require_relative[ \t(]+["']([^"'\n]{1,300})["']/gm, 'file'],
    [/^[ \t]*(?:require|load)[ \t(]+["']([^"'\n]{1,300})["']/gm, 'module'],
  ],
  php: [
    [/\b(?:require|include)(?:_once)?\b[^"'\n;]{0,80}["']\/?([^"'\n]{1,300})["']/g, 'file'],
    [/^[ \t]*use[ \t]+\\?([\w\\]{1,300})/gm, 'module'],
  ],
  rust: [
    [/^[ \t]*(?:pub(?:\([\w: ]+\))?[ \t]+)?mod[ \t]+(\w{1,100});/gm, 'file'],
    [/^[ \t]*(?:pub[ \t]+)?use[ \t]+(?:crate|super|self)::([\w:]{1,300})/gm, 'module'],
  ],
  c: quotedInclude,
  cpp: quotedInclude,
  objc: quotedInclude,
  shell: [[/^[ \t]*(?:source|\.)[ \t]+"?([\w./${}()-]{1,300})/gm, 'file']],
}

/** Names of pages in any language: who renders them, and what they include. */
const pages: Rule = [
  /["'`/]([\w./-]{1,200}\.(?:html?|jspx?|ejs|erb|hbs|jinja2?|j2|njk|twig|tmpl|gohtml|cshtml|ftl|vm|pug))["'`]/g,
  'template',
]

/** Each name once, in the order of the file. */
export function listSpecifiers(language: Language, text: string): Specifier[] {
  const found = new Map<string, Specifier>()
  for (const [pattern, kind] of [...(rules[language] ?? []), pages]) {
    for (const [, name = ''] of text.matchAll(pattern)) {
      if (found.size >= maxSpecifiers) break
      found.set(`${kind} ${name}`, { kind, name })
    }
  }
  return [...found.values()]
}
