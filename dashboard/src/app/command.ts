/** An entry of the command palette. */
export type Command = { id: string; title: string; sort: string; run: () => void }
