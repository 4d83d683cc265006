// The security settings of every pod: no privilege, no writable root, limits.
import type { WorkloadLimits } from '../../ports/tasks/workloads.ts'
import type { Component } from './objects.ts'

const mebibyte = 1024 * 1024

/** What the scheduler reserves; small, so that a node takes as many pods as it can hold. */
const requests: Record<Component, { milliCpu: number; memoryBytes: number }> = {
  command: { milliCpu: 10, memoryBytes: 32 * mebibyte },
  sealed: { milliCpu: 10, memoryBytes: 32 * mebibyte },
  worker: { milliCpu: 50, memoryBytes: 128 * mebibyte },
  sandbox: { milliCpu: 10, memoryBytes: 32 * mebibyte },
}

export function hardenPod(user: number) {
  return {
    runAsUser: user,
    runAsGroup: user,
    fsGroup: user,
    runAsNonRoot: true,
    seccompProfile: { type: 'RuntimeDefault' },
  }
}

export const hardenedContainer = {
  allowPrivilegeEscalation: false,
  privileged: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
} as const

/** Of a container that stands beside a task's own. */
export type HelperLimits = Required<Pick<WorkloadLimits, 'cpu' | 'memoryBytes'>> & {
  requests: { cpu: number; memoryBytes: number }
}

/** A container of the service's that stands beside a task's own. */
export type Helper = { image: string; limits: HelperLimits }

function formatCpu(cores: number): string {
  return `${Math.max(1, Math.round(cores * 1000))}m`
}

/** Limits as given; requests are the task's or small ones, and never above the limits. */
export function makeResources(component: Component, limits: WorkloadLimits) {
  const defaults = requests[component]
  const { cpu, memoryBytes: maxMemory, diskBytes, requests: requested = {}, extended } = limits
  const memoryBytes = requested.memoryBytes ?? defaults.memoryBytes
  return {
    requests: {
      ...extended?.requests,
      cpu: formatCpu(Math.min(requested.cpu ?? defaults.milliCpu / 1000, cpu ?? Number.POSITIVE_INFINITY)),
      memory: String(Math.round(Math.min(memoryBytes, maxMemory ?? Number.POSITIVE_INFINITY))),
      // Set explicitly, or it would equal the limit.
      ...(diskBytes !== undefined && { 'ephemeral-storage': String(Math.round(requested.diskBytes ?? 0)) }),
    },
    limits: {
      ...extended?.limits,
      ...(cpu !== undefined && { cpu: formatCpu(cpu) }),
      ...(maxMemory !== undefined && { memory: String(Math.round(maxMemory)) }),
      ...(diskBytes !== undefined && { 'ephemeral-storage': String(Math.round(diskBytes)) }),
    },
  }
}

export function makeHelperResources({ requests: { cpu, memoryBytes }, ...limits }: HelperLimits, diskBytes?: number) {
  return {
    requests: {
      cpu: formatCpu(cpu),
      memory: String(memoryBytes),
      ...(diskBytes !== undefined && { 'ephemeral-storage': '0' }),
    },
    limits: {
      cpu: formatCpu(limits.cpu),
      memory: String(limits.memoryBytes),
      ...(diskBytes !== undefined && { 'ephemeral-storage': String(diskBytes) }),
    },
  }
}
