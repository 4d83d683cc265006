/** Keys are then meant for a control, or for a command of the browser. */
export function isTyping(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement
  return event.ctrlKey || event.metaKey || event.altKey || target.closest('input, textarea, select, dialog') !== null
}
