// Before the suites of the cluster: the images that they run programs in are there, or are built, once; and so is the
// program that some of them run beside the cluster.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Collection } from '../../src/cluster/api/paths.ts'
import setUpProgram from '../fixtures/built-program.ts'
import { openClusterApi } from '../fixtures/cluster.ts'
import { bareImage, testImage } from './workloads-bench.ts'

const nodes: Collection = { group: '', version: 'v1', plural: 'nodes' }
const buildTimeoutMs = 6 * 60_000

type Node = { status?: { images?: { names: string[] | null }[] } }

const base = 'FROM node:24-slim'
const images = {
  [testImage]: `${base}\n`,
  [bareImage]: `${base} AS base\nFROM scratch\nCOPY --from=base /usr/sbin/ldconfig /ldconfig\n`,
}

/** Those that the kubelet has not told of. */
async function findMissing(): Promise<[string, string][]> {
  const api = await openClusterApi()
  try {
    const { items } = await api.request<{ items: Node[] }>({ verb: 'list', collection: nodes })
    const names = items.flatMap(({ status }) => status?.images?.flatMap((image) => image.names ?? []) ?? [])
    return Object.entries(images).filter(([image]) => !names.includes(`docker.io/library/${image}`))
  } finally {
    await api.close()
  }
}

const answerMs = 60_000

/** What is waited for inside keeps no process alive: without the deadline a run would end before it has begun, and pass. */
async function inTime<T>(work: Promise<T>): Promise<T> {
  const over = new AbortController()
  const late = pause(answerMs, undefined, { signal: over.signal }).then(() => {
    throw new Error(`the cluster of ${process.env.KUBECONFIG} does not answer: start it, or unset KUBECONFIG`)
  })
  late.catch(() => undefined)
  return Promise.race([work, late]).finally(() => over.abort())
}

/** The script of the test cluster: that of CLUSTER, or the one beside the project. */
function findScript(): string {
  const script = process.env.CLUSTER ?? resolve(import.meta.dirname, '../../../shared/cluster/cluster')
  if (existsSync(script)) return script
  throw new Error(
    `the cluster lacks images that the tests need, and nothing is here to load them: ${Object.keys(images)}`,
  )
}

async function buildImage(script: string, image: string, containerfile: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-test-image-'))
  try {
    await writeFile(join(folder, 'Containerfile'), containerfile)
    await promisify(execFile)(script, ['image', image, folder], { timeout: buildTimeoutMs })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

export async function setup(): Promise<(() => void) | undefined> {
  const { KUBECONFIG, SVC_TEST_PROGRAM } = process.env
  if (!KUBECONFIG || !existsSync(KUBECONFIG)) return undefined
  for (const [image, containerfile] of await inTime(findMissing())) await buildImage(findScript(), image, containerfile)
  return SVC_TEST_PROGRAM === undefined ? await setUpProgram() : undefined
}
