import { deny, put } from './quiet.ts'

/** Copies with execCommand, which a click allows even where the clipboard API is off. */
async function writeText(given: string): Promise<void> {
  const focused = document.activeElement
  const field = document.createElement('textarea')
  field.value = String(given)
  field.style.cssText = 'position:fixed;top:0;opacity:0'
  document.documentElement.append(field)
  field.select()
  const copied = document.execCommand('copy')
  field.remove()
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true })
  if (!copied) throw new DOMException('Copying requires a click.', 'NotAllowedError')
}

async function write(items: ClipboardItem[]): Promise<void> {
  for (const item of items) {
    if (!item.types.includes('text/plain')) continue
    return writeText(await (await item.getType('text/plain')).text())
  }
  throw new DOMException('Only text can be copied.', 'NotAllowedError')
}

export function clipboard(): void {
  const made = { writeText, write, readText: deny, read: deny }
  put(navigator, 'clipboard', Object.assign(new EventTarget(), made))
}
