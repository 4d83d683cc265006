// Money in readable form.
import { trimTrailing } from '../lib/trim.ts'

const digits = 4
const significant = 2

/** `1.2345 USD`; amounts below a ten-thousandth keep two digits, so that only zero reads 0. */
export function formatMoney(amount: number, currency = ''): string {
  const isTiny = amount < 10 ** -digits
  const text = isTiny ? formatTiny(amount) : String(Number(amount.toFixed(digits)))
  return `${text} ${currency}`.trimEnd()
}

function formatTiny(amount: number): string {
  if (amount === 0) return '0'
  const decimals = Math.min(100, Math.ceil(-Math.log10(amount)) + significant - 1)
  return trimTrailing(amount.toFixed(decimals), '0')
}
