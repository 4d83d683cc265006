// Attempts whose network is the gate, in pods: their programs are told where it is, with the credential of their attempt.
import type { WorkerIdentity } from '../../ports/identity/identity.ts'
import type { WorkloadSpec, Workloads } from '../../ports/tasks/workloads.ts'

export type GatedWorkloadsOptions = {
  /** Of the gate, as pods reach it; known once it listens. */
  url(): string
  /** User and password of the attempt. */
  mint(identity: WorkerIdentity): Promise<{ user: string; password: string }>
  /** What makes programs use a proxy. */
  listVariables(proxy: string): Record<string, string>
}

async function addGate(spec: WorkloadSpec, options: GatedWorkloadsOptions): Promise<WorkloadSpec> {
  const { key, namespace, taskName, run, workspace } = spec
  const { user, password } = await options.mint({ ...key, namespace, taskName })
  const { protocol, host } = new URL(options.url())
  const variables = options.listVariables(`${protocol}//${user}:${password}@${host}`)
  // A workspace that is retained is searched for what is redacted: the password is of no use when the attempt has ended.
  const hidden = workspace === undefined ? [password] : []
  if (run.kind === 'command') {
    const { env, redact = [] } = run
    return { ...spec, run: { ...run, env: { ...env, ...variables }, redact: [...redact, ...hidden] } }
  }
  const { assignment } = run
  const { task, redact } = assignment
  const assigned = { ...task, variables: { ...task.variables, ...variables } }
  return { ...spec, run: { ...run, assignment: { ...assignment, task: assigned, redact: [...redact, ...hidden] } } }
}

export function withGate<W extends Pick<Workloads, 'ensure'>>(inner: W, options: GatedWorkloadsOptions): W {
  return {
    ...inner,
    ensure: async (spec) => inner.ensure(spec.network !== undefined ? await addGate(spec, options) : spec),
  }
}
