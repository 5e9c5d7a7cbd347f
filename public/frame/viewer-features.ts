import type { AppMessage } from './messages.ts'
import { put } from './quiet.ts'

/** Content that a page shares (Web Share API). */
interface Shared {
  title?: unknown
  text?: unknown
  url?: unknown
  files?: unknown
}

const text = (value: unknown): string => (value === undefined ? '' : String(value))

/** Installs print and share, which the viewer offers the person as a button. */
export function viewerFeatures(tell: (message: AppMessage) => void): void {
  const print = (): void => {
    window.dispatchEvent(new Event('beforeprint'))
    const { scrollHeight: height } = document.documentElement
    tell({ type: 'service:print', height })
    window.dispatchEvent(new Event('afterprint'))
  }
  put(window, 'print', print)

  const canShare = (given?: Shared): boolean =>
    given !== undefined &&
    given.files === undefined &&
    [given.title, given.text, given.url].some((value) => value !== undefined)
  const share = async (given?: Shared): Promise<void> => {
    if (!canShare(given)) throw new TypeError('Share a title, a text or a URL.')
    const { title, text: words, url } = given ?? {}
    tell({ type: 'service:share', title: text(title), text: text(words), url: text(url) })
  }
  put(navigator, 'canShare', canShare)
  put(navigator, 'share', share)
}
