// Who may receive a Secret whose annotation restricts where it may be sent (SECRET-006).
import { isAllowedHost } from '../../contract/values/allowed-hosts.ts'
import { allowedHostsAnnotation, readAllowedHosts } from '../providers/trusted-address.ts'

/**
 * `code`: a process or pod, whose connections nobody checks. `vendor`: the vendor's own address, checked when dialling.
 */
export type Receiver = URL | 'code' | 'vendor'

type Annotated = { namespace: string; name: string; annotations: Record<string, string> | undefined }

/** Why the receiver may not have the Secret; undefined when it may. */
export function findReceiverProblem({ namespace, name, annotations }: Annotated, to: Receiver): string | undefined {
  const hosts = readAllowedHosts(annotations)
  if (hosts === undefined || to === 'vendor' || (to !== 'code' && isAllowedHost(to, hosts))) return undefined
  const where = to === 'code' ? 'the code of a task' : to.host
  return `the secret "${namespace}/${name}" may be sent to ${hosts.join(', ') || 'no host'} (annotation ${allowedHostsAnnotation}), not to ${where}`
}
