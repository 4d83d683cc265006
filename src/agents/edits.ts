// Which files a call of a tool changes, by the tool's own argument.

/** `places`: the argument that names the file, by the names of tools that change one. */
export function findEdits(places: Record<string, string>, tool: string, input: unknown): { edits?: string[] } {
  const place = Object.hasOwn(places, tool) ? places[tool] : undefined
  const path = place === undefined ? undefined : (input as Record<string, unknown> | null | undefined)?.[place]
  return typeof path === 'string' ? { edits: [path] } : {}
}
