// Which of several media types a client prefers (RFC 9110 section 12.5.1).

type Range = { type: string; quality: number }

/** Ranges of an Accept header; malformed parts are left out. */
function readRanges(header: string): Range[] {
  return header.split(',').flatMap((part) => {
    const [type = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase())
    if (!/^[^\s/]+\/[^\s/]+$/.test(type)) return []
    const weight = parameters.find((parameter) => /^q\s*=/.test(parameter))
    const quality = weight === undefined ? 1 : Number(weight.slice(weight.indexOf('=') + 1))
    return Number.isFinite(quality) ? [{ type, quality: Math.min(Math.max(quality, 0), 1) }] : []
  })
}

type Match = { quality: number; specificity: number }

/** The quality of a type, by the most specific range that matches it. */
function matchType(offer: string, ranges: Range[]): Match {
  const [group] = offer.split('/')
  const patterns = ['*/*', `${group}/*`, offer]
  let best: Match = { quality: 0, specificity: -1 }
  for (const { type, quality } of ranges) {
    const specificity = patterns.indexOf(type)
    if (specificity > best.specificity) best = { quality, specificity }
  }
  return best
}

/**
 * The most preferred offer. Among equals, one that is named goes before one that only matches a wildcard, then the
 * first wins. The first offer also wins when none is acceptable or the header is absent: an answer is better than none.
 */
export function chooseType<T extends string>(header: string | undefined, offers: readonly [T, ...T[]]): T {
  const ranges = readRanges(header ?? '*/*')
  let [chosen] = offers
  let best: Match = { quality: 0, specificity: -1 }
  for (const offer of offers) {
    const match = matchType(offer, ranges)
    const isBetter =
      match.quality > best.quality || (match.quality === best.quality && match.specificity > best.specificity)
    if (match.quality > 0 && isBetter) [chosen, best] = [offer, match]
  }
  return chosen
}
