/** The port that an address leads to: the one that it names, else that of its protocol. */
export function portOf(url: { protocol?: string | undefined; port?: string | number | undefined }): number {
  if (url.port !== undefined && url.port !== '') return Number(url.port)
  return url.protocol === 'https:' ? 443 : 80
}
