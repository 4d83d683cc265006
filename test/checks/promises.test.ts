// Promises about the whole source that no single room can keep: names, paths, and who may dial out.
import { describe, expect, it } from 'vitest'
import { environmentNameOf, settings } from '../../src/config/settings.ts'
import { routes } from '../../src/contract/api/index.ts'
import { listFiles, readSource } from './source-tree.ts'

const sources = listFiles('src', ['.ts']).filter((path) => !path.endsWith('.test.ts'))

/** Rooms that speak over a network: to what a user named, to the service itself, or to a container engine. */
const dialers = [
  /^src\/egress\//,
  /^src\/client\//,
  /^src\/launch\/connect\.ts$/,
  /^src\/runtime\/local\/(commands|sandbox)\//,
  // To the issuers that the operator or, at the command line, the user has named.
  /^src\/auth\/document\.ts$/,
  // To the code host that the user makes an App on.
  /^src\/cli\/commands\/codehost\/codehost\.ts$/,
  // To the API server that the pod or the kubeconfig names: its calls, their connections, and exec into sandboxes.
  /^src\/(cluster\/(api|api\/connection)|runtime\/code-pods\/exec)\.ts$/,
  // To the collector that the operator names; without one nothing is recorded.
  /^src\/compose\/traces\.ts$/,
]
/** Names that other standards gave (OpenTelemetry specification: environment variables). */
const foreignNames = [
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT',
]

const dialing =
  /(?<![.\w])fetch\((?!['"]data:)|from 'undici'|import\('undici'\)|\bhttps?\.(request|get)\(|net\.connect|dockerode|\?\? fetch\b|from 'openid-client'/

describe('the source', () => {
  it('opens connections only in the rooms made for that, so that no telemetry leaves [PLAT-003]', () => {
    const strangers = sources.filter(
      (path) => !dialers.some((room) => room.test(path)) && dialing.test(readSource(path)),
    )
    expect(strangers).toEqual([])
  })

  it('names every environment setting SVC_ [NAME-002]', () => {
    const names = Object.keys(settings).map(environmentNameOf)
    expect(names.filter((name) => !/^SVC_[A-Z_]+$/.test(name))).toEqual(foreignNames)
  })

  it('serves workers below /internal/v1 only [VER-001]', () => {
    const isOfWorkers = ({ auth }: { auth: string }) => auth === 'worker' || auth === 'runner'
    const paths = routes.filter(isOfWorkers).map((route) => route.path)
    expect(paths.length).toBeGreaterThan(0)
    for (const path of paths) expect(path).toMatch(/^\/internal\/v1\//)
    expect(routes.filter((route) => !isOfWorkers(route) && route.path.startsWith('/internal'))).toEqual([])
  })

  it('reads the process environment in one room only', () => {
    expect(sources.filter((path) => /process\.env\b/.test(readSource(path)))).toEqual(['src/config/environment.ts'])
  })

  it('leaves the streams and the folder of the process to the composition root where runs share a process', () => {
    const shared = sources.filter((path) => /^src\/(worker|llm|tools|egress)\//.test(path))
    expect(shared.length).toBeGreaterThan(0)
    expect(shared.filter((path) => /process\.(stdout|stderr|stdin|cwd)\b|console\./.test(readSource(path)))).toEqual([])
  })

  it('distinguishes the modes only in the composition root and the configuration [MODE-012]', () => {
    const telling = sources.filter((path) => /['"]kubernetes['"]|config\.mode\b/.test(readSource(path)))
    expect(telling.filter((path) => !/^src\/(compose|config)\//.test(path))).toEqual([])
  })
})
