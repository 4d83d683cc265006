// Who may write which config maps by kubectl, where the service has noted that tasks with Secrets are made of some.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildPolicies } from '../../scripts/admission/policies.ts'
import type { KubernetesApi } from '../../src/cluster/api.ts'
import { usedElsewhere } from '../../src/rules/tasks/uses-elsewhere.ts'
import {
  describeOnCluster,
  dropNamespace,
  installDefinitions,
  makeNamespace,
  openClusterApi,
} from '../fixtures/cluster.ts'
import { applyManifest, kubectl, runKubectl } from '../fixtures/kubectl.ts'
import { policySettings } from '../fixtures/policy-settings.ts'
import { waitFor } from '../fixtures/time.ts'

const run = `cm-${randomBytes(3).toString('hex')}`
const policy = `${run}-configmap-acting`
const refusal = 'this config map is part of a task that has not ended'
/** All write config maps where these are: `reads` and `acts` have a right to the Secrets there, `reads-far` to those elsewhere. */
const users = ['writes', 'reads', 'acts', 'reads-far', 'reads-both', 'writes-everywhere', 'svc'] as const
type User = (typeof users)[number]

describeOnCluster('admission of config maps', () => {
  let api: KubernetesApi
  /** Where the config maps are, those that are noted as any, where else Secrets are, and the service. */
  let home: string
  let crowd: string
  let far: string
  let own: string

  const as = (user: User) => ['--as', user === 'svc' ? `system:serviceaccount:${own}:svc` : `${run}-${user}`]
  const configMap = (name: string, text: string) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name },
    data: { text },
  })
  const make = (user: User, name: string, namespace: string) =>
    runKubectl(['create', '--dry-run=server', ...as(user), '-f', '-'], {
      input: JSON.stringify(configMap(name, 'new')),
      namespace,
    })
  const patch = (user: User, name: string, change: object) =>
    runKubectl(
      ['patch', 'configmap', name, '--type=merge', '-p', JSON.stringify(change), '--dry-run=server', ...as(user)],
      {
        namespace: home,
      },
    )

  /** Whether each of the users is let in. */
  async function ask(write: (user: User) => ReturnType<typeof runKubectl>): Promise<User[]> {
    const letIn: User[] = []
    for (const user of users) {
      const { stderr } = await write(user)
      if (stderr === '') letIn.push(user)
      else expect(stderr).toContain(refusal)
    }
    return letIn
  }

  async function bind(namespace: string | undefined, user: User, rules: string[]): Promise<void> {
    const name = `${run}-${user}`
    const options = namespace === undefined ? {} : { namespace }
    const cluster = namespace === undefined ? 'cluster' : ''
    await kubectl(['create', `${cluster}role`, name, ...rules], options)
    const subject = user === 'svc' ? `--serviceaccount=${own}:svc` : `--user=${name}`
    await kubectl(['create', `${cluster}rolebinding`, name, `--${cluster}role=${name}`, subject], options)
  }

  beforeAll(async () => {
    api = await openClusterApi()
    await installDefinitions(api)
    home = await makeNamespace(api, `${run}-home`)
    crowd = await makeNamespace(api, `${run}-crowd`)
    far = await makeNamespace(api, `${run}-far`)
    own = await makeNamespace(api, `${run}-own`)
    const settings = {
      ...policySettings,
      prefix: run,
      namespace: own,
      accounts: JSON.stringify([`system:serviceaccount:${own}:svc`]),
      isolated: 'true',
    }
    const { group, version, kind, name } = usedElsewhere
    const data = {
      [`${home}.configmaps`]: `both ${far}\nboth ${home}\nfar ${far}\nlater ${home}\nnear ${home}`,
      [`${crowd}.configmaps`]: `* ${home}`,
    }
    const noted = { apiVersion: `${group}/${version}`, kind, metadata: { name, namespace: own }, data }
    const policies = (buildPolicies(settings) as { metadata: { name: string } }[]).filter(
      ({ metadata }) => metadata.name === policy,
    )
    const maps = ['near', 'far', 'both', 'free'].map((text) => configMap(text, 'old'))
    await applyManifest(maps.map((map) => JSON.stringify(map)).join('\n'), { namespace: home })
    const writes = ['--verb=get,create,patch,update,delete', '--resource=configmaps']
    for (const user of users.filter((user) => user !== 'writes-everywhere'))
      for (const namespace of [home, crowd]) await bind(namespace, user, writes)
    await bind(undefined, 'writes-everywhere', writes)
    const more = async (namespace: string, role: string, rule: string[], of: User[]) => {
      await kubectl(['create', 'role', role, ...rule], { namespace })
      const subjects = of.map((user) => `--user=${run}-${user}`)
      await kubectl(['create', 'rolebinding', role, `--role=${role}`, ...subjects], { namespace })
    }
    const reading = ['--verb=get', '--resource=secrets']
    await more(home, 'reads-all', reading, ['reads', 'reads-both'])
    await more(far, 'reads-all', reading, ['reads-far', 'reads-both'])
    await more(home, 'acts-in-all', ['--verb=act', '--resource=tasks.core.svc.ai'], ['acts'])
    await applyManifest([noted, ...policies].map((object) => JSON.stringify(object)).join('\n'))
    const isLearnt = async () => (await make('writes', 'later', home)).stderr.includes(refusal)
    await waitFor(isLearnt, 'the policy being learnt of', 120_000)
  }, 240_000)

  afterAll(async () => {
    for (const kind of ['validatingadmissionpolicybinding', 'validatingadmissionpolicy'])
      await runKubectl(['delete', '--ignore-not-found', kind, policy])
    for (const kind of ['clusterrolebinding', 'clusterrole'])
      await runKubectl(['delete', '--ignore-not-found', kind, `${run}-writes-everywhere`])
    for (const namespace of [home, crowd, far, own]) await dropNamespace(api, namespace)
    await api.close()
  }, 120_000)

  const always: User[] = ['writes-everywhere', 'svc']

  it('asks for the Secrets of each namespace that is noted, when one is made or its text changes', async () => {
    const text = { data: { text: 'new' } }
    const ofHome = ['reads', 'acts', 'reads-both', ...always]
    expect(await ask((user) => patch(user, 'near', text))).toEqual(ofHome)
    expect(await ask((user) => make(user, 'later', home))).toEqual(ofHome)
    expect(await ask((user) => patch(user, 'far', text))).toEqual(['reads-far', 'reads-both', ...always])
    expect(await ask((user) => patch(user, 'both', text))).toEqual(['reads-both', ...always])
    expect(await ask((user) => patch(user, 'near', { data: { another: 'new' } }))).toEqual(ofHome)
    expect(await ask((user) => patch(user, 'near', { data: null }))).toEqual(ofHome)
  })

  it('asks of any where more are noted than are named', async () => {
    expect(await ask((user) => make(user, 'anything', crowd))).toEqual(['reads', 'acts', 'reads-both', ...always])
  })

  it('stops nothing else', async () => {
    expect(await ask((user) => patch(user, 'free', { data: { text: 'new' } }))).toEqual(users)
    expect(await ask((user) => make(user, 'nearer', home))).toEqual(users)
    expect(await ask((user) => make(user, 'nea', home))).toEqual(users)
    expect(await ask((user) => patch(user, 'near', { metadata: { annotations: { leader: user } } }))).toEqual(users)
    expect(
      await ask((user) =>
        runKubectl(['delete', 'configmap', 'near', '--dry-run=server', ...as(user)], { namespace: home }),
      ),
    ).toEqual(users)
  })

  it('has no type errors, according to the server', async () => {
    type Checked = { status?: { observedGeneration?: number; typeChecking?: { expressionWarnings?: object[] } } }
    const status = await waitFor(async () => {
      const found = await kubectl(['get', 'validatingadmissionpolicy', policy, '-o', 'json'])
      return (JSON.parse(found) as Checked).status
    }, 'the check of types')
    expect(status.typeChecking?.expressionWarnings ?? []).toEqual([])
  })

  it('lets everybody in where nothing is noted, or there are no notes at all', async () => {
    const { plural, name } = usedElsewhere
    const isFree = async () => (await make('writes', 'later', home)).stderr === ''
    await kubectl(['patch', plural, name, '--type=merge', '-p', '{"data":null}'], { namespace: own })
    await waitFor(isFree, 'the notes being gone')
    await kubectl(['delete', plural, name], { namespace: own })
    await waitFor(isFree, 'the object being gone')
    expect(await ask((user) => patch(user, 'near', { data: { text: 'new' } }))).toEqual(users)
  })
})
