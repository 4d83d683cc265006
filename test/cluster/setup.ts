// Before the suites of the cluster: the image that they run programs in is there, or is built, once.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Collection } from '../../src/adapters/kubernetes/api/paths.ts'
import { openClusterApi } from '../fixtures/cluster.ts'
import { testImage } from './workloads-bench.ts'

const nodes: Collection = { group: '', version: 'v1', plural: 'nodes' }
const buildTimeoutMs = 6 * 60_000

type Node = { status?: { images?: { names: string[] | null }[] } }

/** Whether the kubelet has told of it. */
async function isLoaded(): Promise<boolean> {
  const api = await openClusterApi()
  try {
    const { items } = await api.request<{ items: Node[] }>({ verb: 'list', collection: nodes })
    const names = items.flatMap(({ status }) => status?.images?.flatMap((image) => image.names ?? []) ?? [])
    return names.includes(`docker.io/library/${testImage}`)
  } finally {
    await api.close()
  }
}

/** The script of the test cluster: that of CLUSTER, or the one beside the project. */
function findScript(): string {
  const script = process.env.CLUSTER ?? resolve(import.meta.dirname, '../../../shared/cluster/cluster')
  if (existsSync(script)) return script
  throw new Error(`the cluster has no image ${testImage}: load one with sh, node, tar and coreutils under that name`)
}

async function buildImage(script: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-test-image-'))
  try {
    await writeFile(join(folder, 'Containerfile'), 'FROM node:24-slim\n')
    await promisify(execFile)(script, ['image', testImage, folder], { timeout: buildTimeoutMs })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

export async function setup(): Promise<void> {
  const { KUBECONFIG } = process.env
  if (!KUBECONFIG || !existsSync(KUBECONFIG) || (await isLoaded())) return
  await buildImage(findScript())
}
