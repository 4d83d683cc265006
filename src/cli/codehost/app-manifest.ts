// The manifest from which a code host makes an App
// (https://docs.github.com/apps/sharing-github-apps/registering-a-github-app-from-a-manifest).

export type AppWish = {
  name: string
  /** Host of the pages, such as `github.com`. */
  host: string
  /** Absent: the App belongs to the person. */
  organization?: string | undefined
  /** Base address of the service, if the code host shall tell it of events. */
  serviceUrl?: string | undefined
  /** It may push branches and merge, too. */
  pushes: boolean
}

const homepage = 'https://docs.github.com/apps'
const events = ['issues', 'issue_comment', 'pull_request']

/** `redirectUrl`: where the browser is sent with the code. */
export function makeManifest({ name, serviceUrl, pushes }: AppWish, redirectUrl: string): object {
  const hook = serviceUrl && new URL('/webhooks/codehost', serviceUrl).href
  return {
    name,
    url: serviceUrl ?? homepage,
    redirect_url: redirectUrl,
    public: false,
    default_permissions: {
      contents: pushes ? 'write' : 'read',
      pull_requests: 'write',
      issues: 'write',
      checks: 'read',
      statuses: 'read',
      metadata: 'read',
    },
    ...(hook && { hook_attributes: { url: hook, active: true }, default_events: events }),
  }
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** The body of a page with one button, which sends the manifest to the code host. */
export function writeStartPage(wish: AppWish, state: string, redirectUrl: string): string {
  const { host, organization, name } = wish
  const place = organization === undefined ? '' : `organizations/${encodeURIComponent(organization)}/`
  const action = `https://${host}/${place}settings/apps/new?state=${state}`
  const manifest = escapeHtml(JSON.stringify(makeManifest(wish, redirectUrl)))
  const button = `<button>Create the App ${escapeHtml(name)} on ${escapeHtml(host)}</button>`
  return `<form method="post" action="${escapeHtml(action)}"><input type="hidden" name="manifest" value="${manifest}">${button}</form>`
}
