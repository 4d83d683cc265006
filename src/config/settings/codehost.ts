// The code host: GitHub, and GitHub Enterprise.
import { z } from 'zod'
import { define, names, text } from '../fields.ts'

const host = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?$/

const hosts = names
  .transform((items) => [...new Set(items.map((item) => item.toLowerCase()))])
  .pipe(z.array(z.string().regex(host, 'must be names of hosts such as github.com')).min(1, 'must name a host'))

/** Entries of `--codehost-api-url`: an address, or `host=address`. */
const apiUrls = names.transform((items, context) =>
  items.map((item) => {
    const [, name, address = ''] = /^(?:([^=/:]+(?::\d+)?)=)?(.*)$/.exec(item) ?? []
    const url = /^https?:\/\//.test(address) ? URL.parse(address) : null
    if (url === null || url.username !== '' || url.search !== '' || url.hash !== '') {
      context.addIssue(`${item} must be an address such as https://ghe.example.com/api/v3, or host=address`)
    }
    return { host: name?.toLowerCase(), url: address }
  }),
)

/** The code host: GitHub, and GitHub Enterprise. */
export const codehostSettings = {
  codehostHosts: define(hosts.default(['github.com']), {
    help: 'hosts of GitHub and GitHub Enterprise, whose repositories may be named',
    placeholder: 'host,...',
  }),
  codehostApiUrl: define(apiUrls.default([]), {
    help: 'base address of the interface of the first of these hosts, or host=address for any (default: the usual one, such as https://HOST/api/v3); may be private',
    example: 'https://ghe.example.com/api/v3',
    placeholder: 'url,...',
  }),
  prReviewMarkerSecret: define(text.optional(), {
    help: 'key that signs the markers of posted reviews (default: one made for this installation)',
    secret: true,
  }),
  prReviewMarkerPreviousSecrets: define(names.default([]), {
    help: 'earlier keys, whose markers still count',
    secret: true,
  }),
  prReviewMarkerTrustedAuthor: define(text.optional(), {
    help: 'whose markers of the old form count, which have no signature (default: the one whose token is used)',
    example: 'review-bot',
    placeholder: 'login',
  }),
} as const
