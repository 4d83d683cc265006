// `-o jsonpath=TEMPLATE`: kubectl's templates, limited to text and plain paths in braces.
import { SvcError } from '../../errors.ts'
import { isJsonObject } from '../../lib/json.ts'

type Step = { key: string } | { index: number } | 'all'
/** A literal text, or a path that is replaced by its values. */
type Part = { text: string } | { steps: Step[] }

const advice =
  'there are paths such as {.metadata.name}, {.items[*].metadata.name}, {.items[0]} and {.labels[\'example.com/team\']}, and texts such as {"\\n"}'

/** The parts of a template; braces are optional around a single path. InvalidRequest for other features of kubectl. */
export function readTemplate(template: string): Part[] {
  const isBare = /^[.[$]/.test(template) && !template.includes('{')
  const pieces = (isBare ? `{${template}}` : template).match(/\{("([^"\\]|\\.)*"|[^{}"])*\}|[^{}]+|[{}]/g) ?? []
  if (pieces.length === 0) throw refuse(template)
  return pieces.map(readPiece)
}

function refuse(what: string): SvcError {
  return new SvcError('InvalidRequest', `jsonpath: \`${what}\` cannot be read; ${advice}`)
}

function readPiece(piece: string): Part {
  if (piece === '{' || piece === '}') throw refuse(piece)
  if (!piece.startsWith('{')) return { text: piece }
  const inside = piece.slice(1, -1).trim()
  return inside.startsWith('"') ? { text: readText(inside) } : { steps: readSteps(inside) }
}

function readText(quoted: string): string {
  try {
    return String(JSON.parse(quoted))
  } catch {
    throw refuse(quoted)
  }
}

const stepPattern = /(\[\*\]|\.\*)|\[(-?\d{1,9})\]|\.((?:[^.[\]\\'"*?()\s]|\\.)+)|\[(?:'([^']*)'|"([^"]*)")\]/y

function readSteps(path: string): Step[] {
  const rest = path.replace(/^[$@]/, '')
  if (path === '') throw refuse('{}')
  if (rest === '.' || rest === '') return []
  const steps: Step[] = []
  stepPattern.lastIndex = 0
  while (stepPattern.lastIndex < rest.length) {
    const found = stepPattern.exec(rest)
    if (!found) throw refuse(path)
    steps.push(stepOf(found))
  }
  return steps
}

function stepOf([, all, index, key = '', single, double]: RegExpExecArray): Step {
  if (all !== undefined) return 'all'
  if (index !== undefined) return { index: Number(index) }
  return { key: single ?? double ?? key.replace(/\\(.)/g, '$1') }
}

/** The template with the values of its paths, separated by spaces; a path without a value gives nothing. */
export function fillTemplate(template: string, value: unknown): string {
  return readTemplate(template)
    .map((part) => ('text' in part ? part.text : follow(part.steps, value).map(print).join(' ')))
    .join('')
}

function follow(steps: Step[], value: unknown): unknown[] {
  return steps.reduce((found: unknown[], step) => found.flatMap((one) => take(step, one)), [value])
}

function take(step: Step, value: unknown): unknown[] {
  if (step === 'all') return valuesOf(value)
  if ('index' in step) return Array.isArray(value) ? present(value.at(step.index)) : []
  return isJsonObject(value) && Object.hasOwn(value, step.key) ? present(value[step.key]) : []
}

function valuesOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value
  return isJsonObject(value) ? Object.values(value) : []
}

const present = (value: unknown): unknown[] => (value === undefined ? [] : [value])

function print(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
