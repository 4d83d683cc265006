export function configMapPath({ namespace, name }: { namespace: string; name: string }): string {
  return `/config-maps/${namespace}/${encodeURIComponent(name)}`
}
