// What the fields of one form share, so that each need not hand it to the next.
import { createContext, type ReactNode, useContext } from 'react'
import type { Problem } from '../../../../src/errors.ts'
import type { Schema } from './schema.ts'

export type FormContext = {
  /** What the service found wrong with what was sent. */
  problems: readonly Problem[]
  /** Names to choose from for the `name` of a reference; `field` is the reference. */
  namesFor(field: string): readonly string[]
  /** Help beside a reference, such as making what it names. */
  helpFor(reference: Reference): ReactNode
}

export type Reference = { field: string; schema: Schema; value: unknown; onChange: (value: unknown) => void }

export const FormContext = createContext<FormContext>({ problems: [], namesFor: () => [], helpFor: () => null })

/** What is wrong with the field at the path, in one text. */
export function useProblem(path: string, isWhole = false): string | undefined {
  const { problems } = useContext(FormContext)
  const found = problems.filter((problem) => problem.path === path || (isWhole && isBelow(problem.path, path)))
  return found.length === 0 ? undefined : found.map(({ message }) => message).join('; ')
}

export function isBelow(path: string, parent: string): boolean {
  return path.startsWith(`${parent}.`) || path.startsWith(`${parent}[`)
}
