// Addresses with names in braces, which arguments of a call take the place of.

/** Not over the borders of a part of the address. */
const placeholder = /\{([^{}/?#]*)\}/g

/** The names, each once, in the order of the address. */
export function listPlaceholders(address: string): string[] {
  return [...new Set([...address.matchAll(placeholder)].map(([, name = '']) => name))]
}

export function fillPlaceholders(text: string, read: (name: string) => string): string {
  return text.replace(placeholder, (_whole, name: string) => read(name))
}

/** Only path and query can take arguments: where a call is sent is not for its model to say. */
export function canBeFilled(address: string): boolean {
  return /^https?:\/\/[^/?#\\{}\s]+(?:[/?#][^\\\s]*)?$/i.test(address)
}
