export function pathOf({ namespace, name }: { namespace: string; name: string }): string {
  return `/sessions/${namespace}/${encodeURIComponent(name)}`
}
