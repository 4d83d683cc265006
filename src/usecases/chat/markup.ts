// Escapes text inside a section of the system prompt, so that it cannot open or close a section.

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

export function escapeText(text: string): string {
  return text.replace(/[&<>]/g, (character) => entities[character] ?? character)
}

/** `<name>`, the lines, `</name>`. Callers escape the lines, because they know what the lines contain. */
export function makeSection(name: string, lines: string | readonly string[]): string {
  const text = typeof lines === 'string' ? lines : lines.join('\n')
  return `<${name}>\n${text}\n</${name}>`
}
