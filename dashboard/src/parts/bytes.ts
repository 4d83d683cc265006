/** `812 B`, `12 kB`, `3.4 MB`. */
export function describeBytes(count: number): string {
  if (count < 1000) return `${count} B`
  if (count < 1_000_000) return `${Math.round(count / 1000)} kB`
  return `${(count / 1_000_000).toFixed(1)} MB`
}
