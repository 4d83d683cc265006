// Paths as they stand in the heads of a diff: git quotes one with unusual characters (core.quotePath), and puts a tab after one with
// blanks, so that what is at its end can be seen.

const escapes: Record<string, number> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, '\\': 92 }

const signs = new Map(Object.entries(escapes).map(([sign, code]) => [code, sign]))

/** Undoes the quotes; the bytes of other characters are in octal. */
export function unquoteGitPath(text: string): string {
  const quoted = /^"(.*)"\s*$/s.exec(text)?.[1]
  if (quoted === undefined) return text.replace(/[\t\r].*$/s, '')
  const encoder = new TextEncoder()
  const bytes = [...quoted.matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/gs)].flatMap(([, octal, escaped, plain = '']) => {
    if (octal !== undefined) return [Number.parseInt(octal, 8)]
    return escaped === undefined ? [...encoder.encode(plain)] : [escapes[escaped] ?? escaped.charCodeAt(0)]
  })
  return new TextDecoder().decode(Uint8Array.from(bytes))
}

/** What follows `--- ` or `+++ `, without `a/` or `b/`; undefined for a side that is not there. */
export function readGitPath(text: string): string | undefined {
  const path = unquoteGitPath(text)
  return path === '/dev/null' ? undefined : path.replace(/^[ab]\//, '')
}

/** What stands in a head for the path, such as `b/src/a.ts`. */
export function quoteGitPath(path: string): string {
  const spell = (sign: string) => {
    const code = sign.charCodeAt(0)
    return `\\${signs.get(code) ?? code.toString(8).padStart(3, '0')}`
  }
  const spelled = path.replace(/[\p{Cc}"\\]/gu, spell)
  if (spelled !== path) return `"${spelled}"`
  return /\s/.test(path) ? `${path}\t` : path
}
