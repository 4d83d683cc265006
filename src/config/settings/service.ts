// Address, start and end of the service, and what it logs.
import { define, duration, flag, names, oneOf, text, whole } from '../fields.ts'

/** Address, start and end of the service, and what it logs. */
export const serviceSettings = {
  mode: define(oneOf(['auto', 'embedded', 'kubernetes']).default('auto'), {
    help: 'where tasks run and resources live; auto is kubernetes in a pod, else embedded',
  }),
  host: define(text.default('127.0.0.1'), { help: 'address to listen on (default in a pod: 0.0.0.0)' }),
  port: define(whole(0, 65_535).default(8080), {
    help: 'port to listen on; 0 picks a free one; where none is chosen and another program has it, the next free one is taken',
  }),
  publicHost: define(names.default([]), {
    help: 'Host names that requests may use, besides the bound address',
    example: 'svc.example.com',
    placeholder: 'name,...',
  }),
  tlsCertFile: define(text.optional(), {
    help: 'PEM file of the certificate: serves HTTPS; read again when it changes',
    example: '/etc/svc/tls.crt',
    placeholder: 'file',
  }),
  tlsKeyFile: define(text.optional(), {
    help: 'PEM file of its key',
    example: '/etc/svc/tls.key',
    placeholder: 'file',
  }),
  corsAllowedOrigins: define(names.default([]), {
    help: 'origins of web pages that may call the API',
    example: 'https://app.example.com',
    placeholder: 'origin,...',
  }),
  dashboard: define(flag.default(true), { help: 'whether the dashboard is served' }),
  readyFile: define(text.optional(), {
    help: 'file that receives {"url","token"} once the service is serving',
    example: '/run/svc/ready.json',
    placeholder: 'file',
  }),
  idleExit: define(duration.optional(), {
    help: 'stop after this long without requests or running tasks',
    example: '15m',
    placeholder: 'duration',
  }),
  drainTimeout: define(duration.default('20s'), {
    help: 'how long stopping waits for running requests',
    placeholder: 'duration',
  }),
  logLevel: define(oneOf(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'), {
    help: 'lowest level that is logged',
  }),
  otlpEndpoint: define(text.optional(), {
    help: 'collector for spans of model calls (OTLP over HTTP); without it none are recorded',
    example: 'http://127.0.0.1:4318',
    env: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    placeholder: 'url',
  }),
} as const
