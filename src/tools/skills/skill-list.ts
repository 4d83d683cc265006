// What a system prompt says of skills that can be read when they are needed.

const longestDescription = 1000

/** `reading` ends the sentence "read its skill ..."; empty when there are no skills. */
export function listSkills(skills: readonly { name: string; description: string }[], reading: string): string {
  if (skills.length === 0) return ''
  const lines = skills.map(({ name, description }) => `- ${name}: ${toLine(description)}`)
  const opening = `Skills: instructions for certain work. Before you do such work, read its skill ${reading}.`
  return ['<available_skills>', opening, ...lines, '</available_skills>'].join('\n')
}

function toLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > longestDescription ? `${line.slice(0, longestDescription)}...` : line
}
