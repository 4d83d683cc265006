// The JSON in the answer of a model, which may stand in a fence of Markdown.

/** The text of the object; the whole answer where none is found. */
export function findJson(answer: string): string {
  const text = answer.trim()
  const fenced = /^```(?:json)?\s*\n([\s\S]*?)\n?```$/.exec(text)?.[1]
  return (fenced ?? text).trim()
}
