// Exchanges the code with which a code host answers a manifest for the App that it has made.
import { z } from 'zod'
import { SvcError } from '../../errors.ts'

const MadeApp = z.object({
  id: z.int(),
  slug: z.string(),
  html_url: z.url(),
  pem: z.string(),
  webhook_secret: z.string().nullish(),
})
/** What the code host has made; the key and the secret are told once. */
export type MadeApp = z.infer<typeof MadeApp>

/** `apiUrl`: base address of the interface. The code is good for one exchange within an hour. */
export async function exchangeCode(apiUrl: string, code: string, signal: AbortSignal): Promise<MadeApp> {
  const url = `${apiUrl.replace(/\/$/, '')}/app-manifests/${encodeURIComponent(code)}/conversions`
  const headers = { accept: 'application/vnd.github+json', 'user-agent': 'svc' }
  const answer = await fetch(url, { method: 'POST', headers, signal, redirect: 'error' })
  const read = MadeApp.safeParse(await answer.json().catch(() => undefined))
  if (answer.ok && read.success) return read.data
  const why = answer.ok ? 'its answer describes no App' : `it answered ${answer.status}`
  throw new SvcError('UpstreamFailed', `${new URL(url).host} did not hand over the App: ${why}; run the command again`)
}
