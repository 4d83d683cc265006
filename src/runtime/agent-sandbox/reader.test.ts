import { describe, expect, it } from 'vitest'
import type { ApiRequest, KubernetesApi } from '../../cluster/api.ts'
import { SvcError } from '../../errors.ts'
import { createInstallation } from './reader.ts'

function serve(answers: (string[] | SvcError)[]) {
  const asked: ApiRequest[] = []
  const request = async (given: ApiRequest) => {
    asked.push(given)
    const [answer = []] = answers.splice(0, 1)
    if (answer instanceof SvcError) throw answer
    return { versions: answer.map((version) => ({ version })) }
  }
  return { asked, installation: createInstallation({ request } as unknown as KubernetesApi) }
}

describe('the installation of agent-sandbox', () => {
  it('is used in the newest version that both know, and looked for once', async () => {
    const { asked, installation } = serve([['v1alpha1', 'v1beta1', 'v2']])
    const [found] = await Promise.all([installation.find(), installation.find()])
    expect(found.version).toBe('v1beta1')
    expect(found.collections.claims).toEqual({
      group: 'extensions.agents.x-k8s.io',
      version: 'v1beta1',
      plural: 'sandboxclaims',
    })
    expect(asked).toHaveLength(1)
    expect((await serve([['v1alpha1']]).installation.find()).version).toBe('v1alpha1')
  })

  it('may come later, or be of a version that nobody knows here', async () => {
    const { installation } = serve([new SvcError('NotConfigured', 'no such group'), ['v1beta1']])
    await expect(installation.find()).rejects.toThrow('no such group')
    expect((await installation.find()).version).toBe('v1beta1')
    const error = serve([['v2']]).installation.find()
    await expect(error).rejects.toMatchObject({
      reason: 'ProviderUnavailable',
      message: expect.stringMatching(/v1beta1.*v2/),
    })
  })
})
