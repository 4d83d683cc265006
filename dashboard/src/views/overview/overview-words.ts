// The numbers of the overview in words.
import { formatMoney } from '../../../../src/client/money.ts'
import type { Overview } from '../../../../src/contract/api/service/overview.ts'

export function sumHours({ hours }: Overview): { succeeded: number; failed: number } {
  return {
    succeeded: hours.reduce((sum, { succeeded }) => sum + succeeded, 0),
    failed: hours.reduce((sum, { failed }) => sum + failed, 0),
  }
}

/** `0.42 USD + 3 EUR`; `–` where nothing has a price. */
export function describeCosts(costs: Readonly<Record<string, number>>): string {
  const parts = Object.entries(costs).map(([currency, cost]) => formatMoney(cost, currency))
  return parts.join(' + ') || '–'
}

/** The hour as this browser's user writes it. */
export function hourOf(start: string): string {
  return new Date(start).toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' })
}
