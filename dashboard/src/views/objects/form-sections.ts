// The sections of forms that have many fields.
import type { Problem } from '../../../../src/errors.ts'
import type { ObjectPath } from './object-kinds.ts'

export type FormSection = {
  title: string
  /** Fields of the spec. */
  fields: readonly string[]
  /** Whether it begins with the name and the labels. */
  hasMetadata: boolean
}

/** The last section has whatever no other one names. */
const known: Partial<Record<ObjectPath, readonly [title: string, ...fields: string[]][]>> = {
  agents: [
    ['General', 'systemPrompt', 'runtime'],
    ['Model', 'providerRef', 'model'],
    ['Tools and skills', 'tools', 'skills'],
    ['Network', 'network'],
    ['Limits', 'maxIterations', 'rateLimit', 'resources'],
    ['Advanced'],
  ],
}

/** `fields`: all that the spec can have. Undefined for a kind whose form is short. */
export function sectionsOf(path: ObjectPath, fields: readonly string[]): FormSection[] | undefined {
  const sections = known[path]
  const named = sections?.flat() ?? []
  const rest = fields.filter((field) => !named.includes(field))
  return sections?.map(([title, ...own], at) => ({
    title,
    fields: at === sections.length - 1 ? [...own, ...rest] : own,
    hasMetadata: at === 0,
  }))
}

export const sectionId = ({ title }: FormSection) => `form-${title.toLowerCase().replaceAll(' ', '-')}`

/** The name that a path has at this depth: of `spec.model.name` `spec` at 0, `model` at 1. */
const partOf = (path: string, depth: number) => path.split(/[.[]/)[depth] ?? ''

/** Those of the section; the first one has what is wrong with the whole, too. */
export function problemsIn({ fields, hasMetadata }: FormSection, problems: readonly Problem[]): Problem[] {
  return problems.filter(({ path }) => {
    const field = partOf(path, 0) === 'spec' ? partOf(path, 1) : ''
    return field === '' ? hasMetadata : fields.includes(field)
  })
}
