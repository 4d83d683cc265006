// What YAML can say and JSON cannot: an alias within what it stands for.
export const endless = 'An alias stands within what it names: that would never end.'

/** Whether a value can be sent, as it does not hold itself. */
export function isTree(value: unknown): boolean {
  try {
    JSON.stringify(value)
    return true
  } catch {
    return false
  }
}
