import { put, refuse } from './quiet.ts'

/** Copies by the old command, which a press allows where the clipboard API is switched off. */
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
  if (!copied) throw new DOMException('A press is needed.', 'NotAllowedError')
}

async function write(items: ClipboardItem[]): Promise<void> {
  for (const item of items) {
    if (!item.types.includes('text/plain')) continue
    return writeText(await (await item.getType('text/plain')).text())
  }
  throw new DOMException('Only text.', 'NotAllowedError')
}

export function clipboard(): void {
  const made = { writeText, write, readText: refuse, read: refuse }
  put(navigator, 'clipboard', Object.assign(new EventTarget(), made))
}
