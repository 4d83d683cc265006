// The Lease of the leader: who holds it, for how long, since when. Pure.

export type LeaseTiming = {
  /** How long after a renewal nobody else may take the lease. */
  leaseSeconds: number
  /**
   * How long a leader continues without a renewal: less than the lease, so that it has stopped when another takes over.
   */
  renewWithinMs: number
  renewEveryMs: number
}

/** coordination.k8s.io/v1. */
export type Lease = {
  apiVersion: string
  kind: string
  metadata: { name: string; resourceVersion?: string; [field: string]: unknown }
  spec: {
    holderIdentity?: string
    leaseDurationSeconds?: number
    acquireTime?: string
    renewTime?: string
    leaseTransitions?: number
  }
}

export type LeaseDraft = { name: string; identity: string; seconds: number; now: Date; current: Lease | undefined }

/** MicroTime of the Kubernetes API, which requires six digits. */
function formatMicroTime(now: Date): string {
  return now.toISOString().replace('Z', '000Z')
}

/** The lease as `identity` takes it: a new one, or the current one at its version. */
export function makeLease({ name, identity, seconds, now, current }: LeaseDraft): Lease {
  const transitions = current === undefined ? 0 : (current.spec.leaseTransitions ?? 0) + 1
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: current?.metadata ?? { name },
    spec: {
      holderIdentity: identity,
      leaseDurationSeconds: seconds,
      acquireTime: formatMicroTime(now),
      renewTime: formatMicroTime(now),
      leaseTransitions: transitions,
    },
  }
}

export function renewLease(lease: Lease, now: Date): Lease {
  return { ...lease, spec: { ...lease.spec, renewTime: formatMicroTime(now) } }
}

/** The lease without a holder. */
export function releaseLease(lease: Lease, now: Date): Lease {
  return { ...renewLease(lease, now), spec: { ...lease.spec, renewTime: formatMicroTime(now), holderIdentity: '' } }
}

/** Milliseconds until the lease may be taken, given that it was last seen to change `age` ago. */
export function countLeft(lease: Lease | undefined, identity: string, age: number): number {
  const holder = lease?.spec.holderIdentity
  // A holder with our own name is this replica before it lost the lease: it knows that it has stopped.
  if (!holder || holder === identity) return 0
  return Math.max(0, (lease.spec.leaseDurationSeconds ?? 0) * 1000 - age)
}
