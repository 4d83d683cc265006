// Limits of the model proxies.
import { define, whole } from '../fields.ts'

/** Limits of the model proxies. */
export const proxiesSettings = {
  proxyMaxConcurrent: define(whole(0).default(0), {
    help: 'concurrent proxy requests of one caller; more get 429; 0 means no limit',
  }),
  proxyMaxLoops: define(whole(1).default(200), {
    help: 'concurrent proxy requests that run server-side tools or are translated; more get 429',
  }),
  proxyMaxLoopsPerNamespace: define(whole(1).default(150), {
    help: 'concurrent requests of that sort of one namespace; those of owners do not count',
  }),
  proxyMaxLoopsPerCaller: define(whole(1).default(100), {
    help: 'concurrent requests of that sort of one caller; owners have no such limit',
  }),
  proxyRequestsPerMinute: define(whole(0).default(0), {
    help: 'proxy requests of one caller per minute; more get 429; 0 means no limit',
  }),
} as const
