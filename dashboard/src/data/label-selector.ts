// Label selectors as Kubernetes writes them, as far as the live stream needs them.
type Labels = Readonly<Record<string, string>>

const part = /^(?:(!)\s*([\w./-]+)|([\w./-]+)(?:\s*(!=|==?)\s*([\w.-]*))?)$/

function matchesPart(labels: Labels, text: string): boolean | undefined {
  const found = part.exec(text.trim())
  if (found === null) return undefined
  const [, not, absent = '', name = '', operator, value = ''] = found
  if (not !== undefined) return !Object.hasOwn(labels, absent)
  if (operator === undefined) return Object.hasOwn(labels, name)
  return ((Object.hasOwn(labels, name) ? labels[name] : undefined) === value) === (operator !== '!=')
}

/** Whether labels match; undefined for selectors with sets (`in (...)`), which the service answers. */
export function matchesLabels(selector: string, labels: Labels = {}): boolean | undefined {
  if (selector.includes('(')) return undefined
  const matched = selector.split(',').map((text) => matchesPart(labels, text))
  if (matched.includes(false)) return false
  return matched.includes(undefined) ? undefined : true
}
