// What tools may reach and run, and the model proxies.
import { z } from 'zod'
import { booleanValue, define, names, oneOf, quantity, textValue, whole } from '../fields.ts'

/** What tools may reach and run. */
export const toolsSettings = {
  allowNetwork: define(names.default([]), {
    help: 'private networks that tools, callbacks and providers may reach',
    example: '10.0.0.0/8',
    placeholder: 'cidr,...',
  }),
  codeImage: define(textValue.default('python:3.12-slim'), {
    help: 'image for code_exec on a cluster, or where only a container engine is available',
    placeholder: 'image',
  }),
  maxSandboxes: define(whole(1).optional(), {
    help: 'runs of code_exec of proxies and of workers in pods at once; more wait for half of their timeout (default: two for each core, at least 4; on a cluster 8)',
    example: '8',
  }),
  scratchSize: define(quantity.default('8Gi'), {
    help: 'bytes that all scratch folders of one caller of the proxies may hold together',
    placeholder: 'quantity',
  }),
  hideUnavailableTools: define(booleanValue.default(false), { help: 'leave out built-in tools that cannot run here' }),
  searchBackend: define(oneOf(['searxng', 'brave', 'tavily', 'json']).optional(), { help: 'backend of web_search' }),
  searchUrl: define(z.url('must be an address such as http://127.0.0.1:8888').optional(), {
    help: 'address of the search backend',
    example: 'http://127.0.0.1:8888',
    placeholder: 'url',
  }),
  searchApiKey: define(textValue.optional(), { help: 'key of the search backend', secret: true }),
} as const

/** Limits of the model proxies. */
export const proxiesSettings = {
  proxyMaxConcurrent: define(whole(0).default(0), {
    help: 'concurrent proxy requests of one caller; more get 429; 0 means no limit',
  }),
  proxyMaxLoops: define(whole(1).default(200), {
    help: 'concurrent proxy requests that run server-side tools or are translated; more get 429',
  }),
  proxyMaxLoopsPerNamespace: define(whole(1).optional(), {
    help: 'concurrent requests of that sort of one namespace; those of owners do not count (default: as many as there may be)',
    example: '50',
  }),
  proxyMaxLoopsPerCaller: define(whole(1).optional(), {
    help: 'concurrent requests of that sort of one caller; owners have no such limit (default: as many as there may be; when they run short, whoever has fewest goes first)',
    example: '50',
  }),
  proxyRequestsPerMinute: define(whole(0).default(0), {
    help: 'proxy requests of one caller per minute; more get 429; 0 means no limit',
  }),
} as const
