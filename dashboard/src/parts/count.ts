/** `1 task`, `2 tasks`; `many` where it is not the word with an s. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString('en')} ${number === 1 ? one : many}`
}
