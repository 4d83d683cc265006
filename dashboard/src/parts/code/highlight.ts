// Colours of code. Loaded when the first code is shown.
import bash from 'highlight.js/lib/languages/bash'
import c from 'highlight.js/lib/languages/c'
import css from 'highlight.js/lib/languages/css'
import diff from 'highlight.js/lib/languages/diff'
import dockerfile from 'highlight.js/lib/languages/dockerfile'
import go from 'highlight.js/lib/languages/go'
import java from 'highlight.js/lib/languages/java'
import javascript from 'highlight.js/lib/languages/javascript'
import json from 'highlight.js/lib/languages/json'
import python from 'highlight.js/lib/languages/python'
import rust from 'highlight.js/lib/languages/rust'
import sql from 'highlight.js/lib/languages/sql'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'
import { createLowlight } from 'lowlight'

const grammars = {
  bash,
  c,
  css,
  diff,
  dockerfile,
  go,
  java,
  javascript,
  json,
  python,
  rust,
  sql,
  typescript,
  xml,
  yaml,
}
const lowlight = createLowlight(grammars)
lowlight.registerAlias({ bash: ['shell', 'console'], c: ['cpp', 'h', 'cc'] })

export type Piece = { text: string; sort: string | undefined }

type Node = ReturnType<typeof lowlight.highlight>['children'][number]

/** `hljs-title function_` is drawn as a title. */
const sortOf = (names: unknown) => (Array.isArray(names) ? String(names[0]).replace(/^hljs-/, '') : undefined)

function flatten(nodes: readonly Node[], sort: string | undefined): Piece[] {
  return nodes.flatMap((node) => {
    if (node.type === 'text') return [{ text: node.value, sort }]
    return node.type === 'element' ? flatten(node.children as Node[], sortOf(node.properties.className) ?? sort) : []
  })
}

/** Undefined for a language that is not known here. */
export function highlight(language: string, text: string): Piece[] | undefined {
  const name = language.toLowerCase()
  return lowlight.registered(name) ? flatten(lowlight.highlight(name, text).children, undefined) : undefined
}
