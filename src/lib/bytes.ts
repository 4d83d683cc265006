// Sizes in words.

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']

/** `512 B`, `3.4 KiB`, `12 MiB`: in the units that limits are stated in. */
export function describeBytes(bytes: number): string {
  let size = bytes
  let unit = 0
  // What would be rounded to 1024 is one of the next.
  for (; size >= 1023.5 && unit < units.length - 1; unit += 1) size /= 1024
  return `${size < 10 ? Math.round(size * 10) / 10 : Math.round(size)} ${units[unit]}`
}
