// Where an issuer's keys are: at the configured address, or where its metadata says (OpenID Connect Discovery 1.0).
import { SvcError } from '../../errors.ts'
import { type DocumentOptions, fetchObject } from '../document.ts'

export type IssuerAddress = {
  issuer: string
  /** Absent: read from the issuer's metadata. */
  jwksUrl?: string
}

/** Section 4.1: the issuer's own path, without a slash at its end, comes before the well-known one. */
function metadataUrlOf(issuer: string): string {
  return `${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`
}

function isAddress(value: unknown, issuer: string): value is string {
  if (typeof value !== 'string' || !URL.canParse(value)) return false
  const { protocol } = new URL(value)
  // An issuer with a secure address may not send us to keys that anybody on the way could replace.
  return protocol === 'https:' || (protocol === 'http:' && issuer.startsWith('http:'))
}

async function discoverKeys(issuer: string, options: DocumentOptions): Promise<string> {
  const metadata = await fetchObject(metadataUrlOf(issuer), options)
  // Section 4.3: metadata of another issuer is invalid here.
  if (metadata.issuer !== issuer || !isAddress(metadata.jwks_uri, issuer)) {
    const cause = new Error('the metadata names another issuer, or no usable jwks_uri')
    throw new SvcError('Unavailable', 'the issuer of the token cannot be reached: try again later', { cause })
  }
  return metadata.jwks_uri
}

/** The issuer's JWKS document. Unavailable when it cannot be fetched. */
export async function loadIssuerKeys(
  address: IssuerAddress,
  options: DocumentOptions = {},
): Promise<Record<string, unknown>> {
  return fetchObject(address.jwksUrl ?? (await discoverKeys(address.issuer, options)), options)
}
