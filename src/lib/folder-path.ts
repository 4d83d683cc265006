// Where a path of this machine lies, seen from a folder.
import { isAbsolute, relative, sep } from 'node:path'

/** The path from the folder on, '' for the folder itself; undefined when it lies outside. Links are not followed. */
export function relativeInside(folder: string, path: string): string | undefined {
  const inside = relative(folder, path)
  // On another drive it stays absolute.
  return inside.split(sep)[0] === '..' || isAbsolute(inside) ? undefined : inside
}

/** Whether it is the folder or lies in it. */
export function isInside(folder: string, path: string): boolean {
  return relativeInside(folder, path) !== undefined
}
