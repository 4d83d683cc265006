// A pattern like `/\/+$/` is tried again at each character of a long run that is not at the end: quadratic time.

/** The text without those of `characters` that it ends with. */
export function trimTrailing(text: string, characters: string): string {
  let end = text.length
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1
  return text.slice(0, end)
}

/** The text without those of `characters` that it starts or ends with. */
export function trimBoth(text: string, characters: string): string {
  let start = 0
  while (start < text.length && characters.includes(text.charAt(start))) start += 1
  return trimTrailing(text.slice(start), characters)
}
