// Writes SQL as text with parameters: sql`select object from resources where name = ${name}`.
// Both dialects read `?` as a placeholder, so no literal or operator in a statement may contain one.
import type { Parameter, Statement } from './database.ts'

/** A piece of SQL that can be part of a statement. */
export type Fragment = Statement

// A template without nested fragments always has the same text, so it is joined once and found by its identity.
const flatTexts = new WeakMap<TemplateStringsArray, string>()

function isFragment(value: Parameter | Fragment): value is Fragment {
  return typeof value === 'object' && value !== null && 'text' in value
}

function composeNested<R>(strings: TemplateStringsArray, values: (Parameter | Fragment)[]): Statement<R> {
  let text = strings[0] ?? ''
  const parameters: Parameter[] = []
  values.forEach((value, index) => {
    if (isFragment(value)) {
      text += value.text
      parameters.push(...value.parameters)
    } else {
      text += '?'
      parameters.push(value)
    }
    text += strings[index + 1]
  })
  return { text, parameters }
}

/** Composes a statement; values become parameters, fragments become part of its text. */
export function sql<R = unknown>(strings: TemplateStringsArray, ...values: (Parameter | Fragment)[]): Statement<R> {
  if (values.some(isFragment)) {
    return composeNested(strings, values)
  }
  let text = flatTexts.get(strings)
  if (text === undefined) {
    text = strings.join('?')
    flatTexts.set(strings, text)
  }
  return { text, parameters: values as Parameter[] }
}

/** Joins fragments with the separator, ` and ` or `, `. */
export function joinSql(fragments: readonly Fragment[], separator: string): Fragment {
  return {
    text: fragments.map((fragment) => fragment.text).join(separator),
    parameters: fragments.flatMap((fragment) => fragment.parameters),
  }
}

/** `?, ?, ?` for `in (...)`; at least one value. */
export function listSql(values: readonly Parameter[]): Fragment {
  return { text: values.map(() => '?').join(', '), parameters: values }
}
