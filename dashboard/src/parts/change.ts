// How much a number has changed.
const signed = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 0, signDisplay: 'exceptZero' })

/** `+12%`; undefined where there was nothing to compare with. */
export function describeChange(now: number, before: number): string | undefined {
  return before === 0 ? undefined : signed.format(now / before - 1)
}
