// Providers: which addresses their calls may use, and where the demo provider may exist.
import { refuse } from '../../../contract/schema/validation.ts'
import type { Caller } from '../../../ports/identity/identity.ts'
import { isOwner } from '../../../rules/identity/permission.ts'
import { type AddressClass, classifyUrl, trustedAnnotation } from '../../../rules/providers/address.ts'
import type { UsecaseDeps } from '../../service/deps.ts'
import type { AdmissionRequest, Admitted } from './request.ts'

const advice: Record<AddressClass, string | undefined> = {
  public: undefined,
  name: undefined,
  private: 'must not be a loopback or private address; only the owner of the service may set one',
  metadata: 'must not be a link-local or metadata address',
  service: 'must not be the address of this service',
}

function checkBaseUrl(baseUrl: string, caller: Caller, deps: UsecaseDeps): void {
  const where = classifyUrl(baseUrl, deps.settings.ownAddresses(), deps.settings.allowNetworks)
  const message = where === 'private' && isOwner(caller) ? undefined : advice[where]
  if (message !== undefined) refuse('provider', [{ path: 'spec.baseURL', message }])
}

function checkDemo(request: AdmissionRequest<'Provider'>, deps: UsecaseDeps): void {
  if (request.spec.type !== 'demo') return
  const path = 'spec.type'
  if (!deps.settings.allowDemoProvider) {
    refuse('provider', [{ path, message: 'demo is only for an embedded service on loopback; use a real vendor' }])
  }
  if (request.name === 'default') {
    refuse('provider', [{ path, message: 'demo cannot be the provider named default; choose another name' }])
  }
}

/**
 * InvalidRequest for a base URL that the caller may not set, and for a demo provider where none is allowed. An address
 * that the machine's owner sets is marked as trusted: calls to it may use loopback and private addresses (NET-004).
 */
export function admitProvider(request: AdmissionRequest<'Provider'>, deps: UsecaseDeps): Admitted {
  checkDemo(request, deps)
  const { caller, before } = request
  const { baseURL } = request.spec
  // Changing other fields neither grants nor removes the trust in an address.
  if (before !== undefined && before.spec.baseURL === baseURL) return {}
  if (baseURL !== undefined) checkBaseUrl(baseURL, caller, deps)
  return { annotations: { [trustedAnnotation]: isOwner(caller) ? baseURL : undefined } }
}
