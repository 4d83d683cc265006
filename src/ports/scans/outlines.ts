// What a source file declares, by a parser of its language.

/** A function, method or type; both lines included, from 1. */
export type Declaration = { name: string; startLine: number; endLine: number }

export interface Outlines {
  /** Outer ones before those within them. Undefined: there is no parser for the ending of this path, or the text is too long. */
  read(path: string, text: string): Promise<Declaration[] | undefined>
}
