// Which of several media types and content codings a client prefers (RFC 9110 sections 12.5.1 and 12.5.3).
import type { FastifyReply } from 'fastify'

type Range = { type: string; quality: number }

const mediaRange = /^[^\s/]+\/[^\s/]+$/
const codingName = /^[^\s/]+$/

/** The alternatives of an Accept or Accept-Encoding header; malformed ones are left out. */
function readRanges(header: string, form: RegExp): Range[] {
  return header.split(',').flatMap((part) => {
    const [type = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase())
    if (!form.test(type)) return []
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
  const ranges = readRanges(header ?? '*/*', mediaRange)
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

/**
 * The most preferred of the content codings on offer, the first of equals; undefined when the client accepts none of
 * them, or says nothing about them.
 */
export function chooseCoding<C extends string>(header: string | undefined, offers: readonly C[]): C | undefined {
  const ranges = readRanges(header ?? '', codingName)
  const qualityOf = (coding: string) =>
    (ranges.find(({ type }) => type === coding) ?? ranges.find(({ type }) => type === '*'))?.quality ?? 0
  const accepted = offers.filter((coding) => qualityOf(coding) > 0)
  return accepted.sort((one, other) => qualityOf(other) - qualityOf(one))[0]
}

export function addVary(reply: FastifyReply, ...names: string[]): void {
  const existing = reply.getHeader('vary')
  reply.header('vary', [...(existing === undefined ? [] : [existing]), ...names].join(', '))
}
