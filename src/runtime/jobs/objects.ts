// The parts of Jobs and pods that are read (batch/v1, core/v1), as the API server writes them: times are RFC 3339
// texts.
import type { Collection } from '../../cluster/api/paths.ts'

export const jobs: Collection = { group: 'batch', version: 'v1', plural: 'jobs' }
export const pods: Collection = { group: '', version: 'v1', plural: 'pods' }
export const serviceAccounts: Collection = { group: '', version: 'v1', plural: 'serviceaccounts' }
export const networkPolicies: Collection = { group: 'networking.k8s.io', version: 'v1', plural: 'networkpolicies' }

export type OwnerReference = {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller?: boolean
  blockOwnerDeletion?: boolean
}

export type ObjectMetadata = {
  name: string
  namespace: string
  uid: string
  resourceVersion: string
  creationTimestamp: string
  deletionTimestamp?: string
  deletionGracePeriodSeconds?: number
  labels?: Record<string, string>
  annotations?: Record<string, string>
  ownerReferences?: OwnerReference[]
}

export type StoredObject = { metadata: ObjectMetadata }

export type Condition = { type: string; status: string; reason?: string; message?: string; lastTransitionTime?: string }

export type Terminated = {
  exitCode: number
  signal?: number
  reason?: string
  message?: string
  startedAt?: string
  finishedAt?: string
}

export type ContainerState = {
  waiting?: { reason?: string; message?: string }
  running?: { startedAt: string }
  terminated?: Terminated
}

export type Job = StoredObject & {
  status?: { conditions?: Condition[]; startTime?: string; failed?: number; succeeded?: number }
}

export type Pod = StoredObject & {
  spec?: {
    nodeName?: string
    containers?: {
      name?: string
      resources?: { limits?: Record<string, string> }
      volumeMounts?: { mountPath?: string }[]
    }[]
    initContainers?: { name?: string }[]
  }
  status?: {
    phase?: string
    reason?: string
    message?: string
    startTime?: string
    conditions?: Condition[]
    containerStatuses?: { name: string; state?: ContainerState }[]
    initContainerStatuses?: { name: string; state?: ContainerState }[]
  }
}

export function findCondition(conditions: Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type && condition.status === 'True')
}
