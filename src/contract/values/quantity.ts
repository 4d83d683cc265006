// Kubernetes resource quantities (`512Mi`, `100m`), as in resource.Quantity of apimachinery.
import { z } from 'zod'
import { SvcError } from '../../errors.ts'
import { limitedText } from '../schema/text.ts'

const factors: Record<string, number> = {
  '': 1,
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 1024,
  Mi: 1024 ** 2,
  Gi: 1024 ** 3,
  Ti: 1024 ** 4,
  Pi: 1024 ** 5,
  Ei: 1024 ** 6,
}

const pattern = /^\+?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d{1,3}|Ki|Mi|Gi|Ti|Pi|Ei|n|u|m|k|M|G|T|P|E)?$/

/** The number (bytes, cores) that a quantity means; undefined for any other text and for negative quantities. */
export function tryParseQuantity(value: string | number): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) && value >= 0 ? value : undefined
  // The pattern is quadratic on long runs of digits.
  const match = value.length > 64 ? null : pattern.exec(value)
  if (match === null) return undefined
  const suffix = match[2] ?? ''
  const factor = factors[suffix]
  const number = factor === undefined ? Number(`${match[1]}${suffix}`) : Number(match[1]) * factor
  return Number.isFinite(number) ? number : undefined
}

/** The number that a quantity means: `512Mi` is 536870912, `100m` is 0.1. InvalidRequest for any other text. */
export function parseQuantity(value: string | number): number {
  const number = tryParseQuantity(value)
  if (number === undefined) {
    throw new SvcError(
      'InvalidRequest',
      `"${String(value).slice(0, 100)}" is not a quantity; write it like 512Mi or 100m`,
    )
  }
  return number
}

/** A Kubernetes quantity: a number or a text, as in Kubernetes. */
export const Quantity = z.union([
  limitedText(64).refine((text) => tryParseQuantity(text) !== undefined, 'must be a quantity like 512Mi, 2Gi or 500m'),
  z.number().nonnegative(),
])
export type Quantity = z.infer<typeof Quantity>
