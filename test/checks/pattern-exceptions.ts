export const exceptions: Record<string, string> = {}
