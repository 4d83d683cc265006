// The type of a provider where the command line does not say it: the key tells whose it is, else the address.
import { type VendorType, vendorTypes } from '../../../contract/kinds/providers/provider.ts'
import { describeVendor } from '../../../contract/kinds/providers/vendor-names.ts'
import { SvcError } from '../../../errors.ts'

export type KeyClues = { variable?: string | undefined; key?: string | undefined; baseUrl?: string | undefined }

type Clue = (clues: KeyClues) => boolean

const hostOf = (url: string | undefined) => (url === undefined ? '' : (URL.parse(url)?.hostname ?? ''))

/** In this order. Another vendor's key may look like one of OpenAI, so an address that is given goes before it. */
const clues: readonly (readonly [VendorType, Clue])[] = [
  ['llma', ({ key = '' }) => key.startsWith('sk-ant-')],
  ['llma', ({ baseUrl }) => hostOf(baseUrl).endsWith('anthropic.com')],
  ['llmo', ({ baseUrl }) => hostOf(baseUrl).endsWith('openai.com')],
  // Model servers for one's own machine, and most vendors, speak the API of OpenAI below this path.
  ['llmo', ({ baseUrl = '' }) => /\/v1\/?$/.test(baseUrl)],
  [
    'llma',
    ({ variable = '', baseUrl }) => baseUrl === undefined && /ANTHROPIC|CLAUDE|^VENDOR_API_KEY$/i.test(variable),
  ],
  ['llmo', ({ variable = '', baseUrl }) => baseUrl === undefined && /^(?!.*AZURE).*OPENAI/i.test(variable)],
  ['llmo', ({ key = '', baseUrl }) => baseUrl === undefined && /^sk-/.test(key)],
]

/** Undefined where nothing tells. */
export function inferVendor(known: KeyClues): VendorType | undefined {
  return clues.find(([, tells]) => tells(known))?.[0]
}

function requireAddress(text: string | undefined): void {
  if (text === undefined || ['http:', 'https:'].includes(URL.parse(text)?.protocol ?? '')) return
  throw new SvcError('InvalidRequest', `\`${text}\` is not the address of an API; write https://HOST/PATH`)
}

/** InvalidRequest with the types there are. */
export function requireVendor(known: KeyClues): VendorType {
  const type = inferVendor(known)
  if (type !== undefined) return type
  requireAddress(known.baseUrl)
  const types = vendorTypes.map(describeVendor).join(', ')
  throw new SvcError('InvalidRequest', `neither key nor address tells whose API it is: give --type, one of ${types}`)
}
