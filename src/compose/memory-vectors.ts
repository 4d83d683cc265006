// What makes vectors of memories and of queries: the provider's model that is configured, or nothing.
import type { Config } from '../config/load.ts'
import type { Controller } from '../controllers/engine/controller.ts'
import { createMemoryVectorController } from '../controllers/memory/vectors.ts'
import { createQueryVectors } from '../lookup/query-vectors.ts'
import type { Logger } from '../observability/log.ts'
import type { Ports } from '../ports/index.ts'
import type { Embedder } from '../ports/memory/vectors.ts'
import { createEmbedder } from '../proxy/embedder.ts'

type Parts = { ports: Ports; ownAddresses: () => string[]; log: Logger }

function embedderOf({ memoryEmbedding, allowNetwork }: Config, { ports, ownAddresses }: Parts): Embedder | undefined {
  if (memoryEmbedding === undefined) return undefined
  return createEmbedder({ ports, settings: { allowNetworks: allowNetwork, ownAddresses } }, memoryEmbedding)
}

export function withQueryVectors(config: Config, parts: Parts): Ports {
  const { ports, log } = parts
  const embedder = embedderOf(config, parts)
  if (embedder === undefined) return ports
  const queryVectors = createQueryVectors({
    memoryVectors: ports.records.memoryVectors,
    clock: ports.clock,
    embedder,
    report: (message) => log.warn({ reason: message }, 'memories are searched by words alone'),
  })
  return { ...ports, queryVectors }
}

export function composeMemoryVectors(config: Config, parts: Parts): Controller {
  const { ports, log } = parts
  return createMemoryVectorController({
    vectors: ports.records.memoryVectors,
    clock: ports.clock,
    log,
    embedder: embedderOf(config, parts),
  })
}
