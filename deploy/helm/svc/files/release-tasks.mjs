// Run before the release is removed: stops the service, then takes its finalizer off every task, so that nothing that is
// deleted later waits for a controller that is gone. Jobs and Secrets of tasks belong to them and go with them.
import { readFileSync } from 'node:fs'
import { request } from 'node:https'

const account = '/var/run/secrets/kubernetes.io/serviceaccount'
const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env
const [namespace, deployment, watched] = process.argv.slice(2)
const ca = readFileSync(`${account}/ca.crt`)
const finalizer = 'svc.ai/cleanup'

function call(method, path, body, contentType = 'application/merge-patch+json') {
  const headers = { authorization: `Bearer ${readFileSync(`${account}/token`, 'utf8')}`, accept: 'application/json' }
  if (body) headers['content-type'] = contentType
  return new Promise((resolve, reject) => {
    const sent = request({ host, port, ca, method, path, headers }, (answer) => {
      const pieces = []
      answer.on('data', (piece) => pieces.push(piece))
      answer.on('end', () => resolve({ status: answer.statusCode, text: Buffer.concat(pieces).toString('utf8') }))
    })
    sent.on('error', reject)
    sent.end(body && JSON.stringify(body))
  })
}

const nothing = { items: [], metadata: {} }

async function read(path) {
  const { status, text } = await call('GET', path)
  // With a namespace that is gone its binding is gone, too.
  const isClosed = status === 403 && watched
  if (isClosed) console.log(`left alone, since it may not be read (is the namespace gone?): ${path}`)
  if (status === 404 || isClosed) return nothing
  if (status >= 300) throw new Error(`GET ${path}: ${status} ${text}`)
  return JSON.parse(text)
}

/** Helm marks what it installs; a manifest that was rendered and applied is somebody else's to remove. */
async function isHelms() {
  const { metadata } = await read(`/apis/apps/v1/namespaces/${namespace}/deployments/${deployment}`)
  return metadata.uid === undefined || metadata.annotations?.['meta.helm.sh/release-name'] !== undefined
}

/** A replica that is ending is none for its Deployment any more, but leads until it has ended. */
async function listReplicas(selector) {
  const { items } = await read(`/api/v1/namespaces/${namespace}/pods?labelSelector=${encodeURIComponent(selector)}`)
  return items.filter(({ metadata }) => metadata.ownerReferences?.some(({ kind }) => kind === 'ReplicaSet'))
}

async function stopService() {
  const scale = `/apis/apps/v1/namespaces/${namespace}/deployments/${deployment}/scale`
  const { status, text } = await call('PATCH', scale, { spec: { replicas: 0 } })
  if (status === 404) return
  if (status >= 300) throw new Error(`the service could not be stopped: ${status} ${text}`)
  const { selector } = JSON.parse(text).status
  while ((await listReplicas(selector)).length > 0) await new Promise((resolve) => setTimeout(resolve, 500))
}

async function release({ namespace: place, name, resourceVersion, finalizers }) {
  const path = `/apis/core.svc.ai/v1alpha1/namespaces/${place}/tasks/${name}`
  const left = finalizers.filter((one) => one !== finalizer)
  const { status, text } = await call('PATCH', path, { metadata: { resourceVersion, finalizers: left } })
  if (status >= 300 && status !== 404 && status !== 409) throw new Error(`PATCH ${path}: ${status} ${text}`)
  return status !== 409
}

/** One page after the other; true when nothing changed under its hands. */
async function releaseWithin(place) {
  const collection = `/apis/core.svc.ai/v1alpha1/${place}tasks`
  let isDone = true
  let next = ''
  do {
    const page = await read(`${collection}?limit=200${next && `&continue=${encodeURIComponent(next)}`}`)
    const held = page.items.filter(({ metadata }) => metadata.finalizers?.includes(finalizer))
    for (const { metadata } of held) isDone = (await release(metadata)) && isDone
    if (held.length > 0) console.log(`${held.length} tasks released`)
    next = page.metadata.continue ?? ''
  } while (next)
  return isDone
}

const places = watched ? watched.split(',').map((name) => `namespaces/${name}/`) : ['']

if (!(await isHelms())) {
  console.log(`nothing is done: deployment ${deployment} was not installed by Helm`)
  process.exit(0)
}
await stopService()
for (const place of places) while (!(await releaseWithin(place)));
