// Long texts at every place of every public route, and into every reader of foreign texts. A fault is what holds the event loop
// longer than the service's own watch allows, or an answer of 500.
import { type Stall, watchLoop } from '../../src/observability/loop-watch.ts'
import { startService } from '../http/service.ts'
import { listPlaces, type OpenApi, type Place } from './bodies.ts'
import { type HealthTimes, watchHealth } from './health-watch.ts'
import { createSequence, type LongText, makeTexts, sizes } from './long-texts.ts'
import { readers } from './readers.ts'

type Service = Awaited<ReturnType<typeof startService>>

export type CampaignOptions = {
  seed: number
  /** What is left when it is over is not sent; the result says how much was. */
  maxSeconds: number
  textsPerPlace?: number
  sizes?: number[]
}

export type CampaignResult = { sent: number; places: number; reads: number; faults: string[]; health: HealthTimes }

/** The same timer that starts nothing else: a turn of the loop in between lets the watch look. */
const turn = () => new Promise((resolve) => setTimeout(resolve, 0))

async function send({ call }: Service, place: Place, { name, text }: LongText): Promise<string | undefined> {
  const { url, body } = place.make(text)
  const line = `${place.method.toUpperCase()} ${url}`
  const answer = await call(line, body === undefined ? {} : { payload: body as object }).catch(String)
  if (typeof answer !== 'string' && answer.statusCode !== 500) return undefined
  return `${place.name} with ${name}: ${typeof answer === 'string' ? answer.slice(0, 300) : answer.statusCode}`
}

const isStream = ({ name }: Place) => /watch|stream|follow|\/events/i.test(name)

type Campaign = { pick(): LongText; isOver(): boolean; name(current: string): void; textsPerPlace: number }

async function feedReaders({ pick, isOver, name, textsPerPlace }: Campaign): Promise<number> {
  let reads = 0
  for (const [reader, read] of Object.entries(readers)) {
    for (let one = 0; one < textsPerPlace * 10 && !isOver(); one += 1) {
      const text = pick()
      name(`${reader} with ${text.name}`)
      // What is refused in words is no fault.
      await (async () => read(text.text))().catch(() => undefined)
      reads += 1
      await turn()
    }
  }
  return reads
}

async function fillPlaces(service: Service, places: readonly Place[], campaign: Campaign) {
  const { pick, isOver, name, textsPerPlace } = campaign
  const refused: string[] = []
  let sent = 0
  const rounds = Array.from({ length: textsPerPlace }, () => places).flat()
  for (const place of rounds) {
    if (isOver()) break
    const text = pick()
    name(`${place.name} with ${text.name}`)
    const fault = await send(service, place, text)
    if (fault !== undefined) refused.push(fault)
    sent += 1
  }
  return { sent, refused }
}

/** Of the CPU: from here on the service says of its loop that it was held. */
const maxHeldMs = 500

export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const { seed, maxSeconds, textsPerPlace = 4 } = options
  const texts = (options.sizes ?? sizes).flatMap((size) => [...makeTexts(size)])
  const next = createSequence(seed)
  const service = await startService({ logLevel: 'error' })
  const document = (await service.call('GET /openapi.json')).json() as OpenApi
  const places = listPlaces(document).filter((place) => !isStream(place))
  const stalls: string[] = []
  let current = ''
  let lastLook = process.cpuUsage()
  const count = ({ ms, kind }: Stall) => {
    const { user, system } = process.cpuUsage(lastLook)
    // While others had the processor, nothing here held the loop.
    if ((user + system) / 1000 < maxHeldMs) return
    stalls.push(`${current} held the loop for ${Math.round(ms)} ms (${kind})`)
  }
  const watch = watchLoop({ log: { warn: () => {} } as never, count })
  // After the watch has looked, as timers of one time end in the order in which they were made.
  const looks = setInterval(() => {
    lastLook = process.cpuUsage()
  }, 100)
  const healthWatch = await watchHealth(await service.listen())
  const deadline = performance.now() + maxSeconds * 1000
  const campaign: Campaign = {
    pick: () => texts[next() % texts.length] as LongText,
    isOver: () => performance.now() > deadline,
    name: (what) => {
      current = what
    },
    textsPerPlace,
  }
  const reads = await feedReaders(campaign)
  const { sent, refused } = await fillPlaces(service, places, campaign)
  await turn()
  watch.look()
  watch.stop()
  clearInterval(looks)
  const health = await healthWatch.stop()
  await service.stop()
  const faults = [...stalls, ...refused]
  return { sent, places: places.length, reads, faults, health }
}
