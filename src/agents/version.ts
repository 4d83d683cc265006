// Versions of agent programs: which option a version has is known, not hoped.

/** What `--version` prints has more words; undefined: it names none. Of a pre-release, the version that it leads to. */
export function readVersion(text: string): string | undefined {
  return /(?<![\d.])\d{1,9}\.\d{1,9}\.\d{1,9}(?!\.?\d)/.exec(text)?.[0]
}

/** A version that is not known is taken for the newest. */
export function isAtLeast(version: string | undefined, wanted: string): boolean {
  if (version === undefined) return true
  const [own, minimum] = [version, wanted].map((text) => text.split('.').map(Number))
  const differing = minimum?.findIndex((part, at) => part !== own?.[at]) ?? -1
  return differing < 0 || (own?.[differing] ?? 0) > (minimum?.[differing] ?? 0)
}

/** Options by the version from which on the program knows them. */
export function knownOptions(version: string | undefined, options: Record<string, string>): string[] {
  return Object.entries(options).flatMap(([option, since]) => (isAtLeast(version, since) ? [option] : []))
}
