/** Copies with execCommand, which a click allows even where a policy blocks the clipboard API. */
export function copyText(text: string): boolean {
  const field = document.createElement('textarea')
  field.value = text
  // It goes before it is painted; fixed, it scrolls nothing.
  field.style.position = 'fixed'
  // A modal dialog allows selections in itself alone.
  const place = document.querySelector('dialog:modal') ?? document.documentElement
  place.append(field)
  field.select()
  const isCopied = document.execCommand('copy')
  field.remove()
  return isCopied
}
