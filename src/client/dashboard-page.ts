// Whether a service shows the dashboard.
import type { ErrorBody } from '../contract/api/resources/route.ts'
import { SvcError } from '../errors.ts'
import { tryParseJson } from '../lib/json.ts'

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
