// Paths that stay inside a folder: the one rule for staged files, file tools, archives, artifacts, skills, reports and git (ADR 0064).

/**
 * Why a text is not the path of something inside a folder; undefined: it is one. Such a path is relative, with `/` between its parts,
 * of which none is empty, `.` or `..`; it has neither backslashes nor control characters, and means the same on every system.
 */
export function findPathFault(path: string): string | undefined {
  if (path === '') return 'is empty'
  if (path.startsWith('/') || /^[a-z]:/i.test(path)) return 'is absolute'
  if (path.includes('\\')) return 'contains a backslash'
  if (/\p{Cc}/u.test(path)) return 'contains control characters'
  if (!path.isWellFormed()) return 'is not valid Unicode'
  const parts = path.split('/')
  if (parts.includes('')) return 'has an empty part'
  return parts.includes('.') || parts.includes('..') ? 'names a folder' : undefined
}

export function isInnerPath(path: string): boolean {
  return findPathFault(path) === undefined
}

/**
 * What a person or model may write for an inner path: `./a//b/` as `a/b`, and the folder itself as ''. Undefined for what is no inner
 * path, and for each `..`: where `a` is a link, `a/../b` leads somewhere else than its text says.
 */
export function normalizeInnerPath(path: string): string | undefined {
  if (path.startsWith('/')) return undefined
  const inner = path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/')
  return inner === '' || isInnerPath(inner) ? inner : undefined
}
