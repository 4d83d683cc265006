// Whether a service shows the dashboard.
import type { ErrorBody } from '../contract/api/resources/route.ts'
import { isSvcError, SvcError } from '../errors.ts'
import { tryParseJson } from '../lib/json.ts'

/** Whether the page is missing for want of a build. */
export function isUnbuilt(error: unknown): boolean {
  return isSvcError(error, 'NotFound') && error.message.includes('is not built')
}

/** NotFound where the service has no page of the dashboard at the address: a browser would show the refusal as it is sent, as JSON. */
export async function requireDashboard(page: string): Promise<void> {
  const answer = await fetch(page, { headers: { accept: 'text/html' } })
  const text = await answer.text()
  if (answer.headers.get('content-type')?.startsWith('text/html')) return
  const message = (tryParseJson(text) as ErrorBody | undefined)?.error?.message ?? ''
  const isOff = !message.startsWith('the dashboard')
  throw new SvcError(
    'NotFound',
    isOff ? 'this service shows no dashboard: it is turned off there (--dashboard)' : message,
  )
}
