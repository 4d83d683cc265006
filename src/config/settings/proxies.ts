// Limits of the model proxies.
import { define, whole } from '../fields.ts'

/** Limits of the model proxies. */
export const proxiesSettings = {
  proxyMaxConcurrent: define(whole(0).default(0), {
    help: 'proxy requests of one caller that run at once; more get 429; 0 is no limit',
  }),
  proxyMaxLoops: define(whole(1).default(200), {
    help: 'proxy requests that run server-side tools or are translated at once; more get 429',
  }),
  proxyMaxLoopsPerNamespace: define(whole(1).default(150), {
    help: 'such requests of one namespace at once; those of owners do not count',
  }),
  proxyMaxLoopsPerCaller: define(whole(1).default(100), {
    help: 'such requests of one caller at once; owners have no such limit',
  }),
  proxyRequestsPerMinute: define(whole(0).default(0), {
    help: 'proxy requests of one caller per minute; more get 429; 0 is no limit',
  }),
} as const
