import { copyText } from './copy-text.ts'
import { deny, put } from './quiet.ts'

async function writeText(given: string): Promise<void> {
  const focused = document.activeElement
  const isCopied = copyText(String(given))
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true })
  if (!isCopied) throw new DOMException('Copying requires a click.', 'NotAllowedError')
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
