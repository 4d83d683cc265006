// Text inside of a section of the system prompt: nothing in it can open or close one.

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

export function escapeText(text: string): string {
  return text.replace(/[&<>]/g, (character) => entities[character] ?? character)
}

/** `<name>`, the lines, `</name>`. The lines are escaped by whoever knows what they are made of. */
export function makeSection(name: string, lines: string | readonly string[]): string {
  const text = typeof lines === 'string' ? lines : lines.join('\n')
  return `<${name}>\n${text}\n</${name}>`
}
