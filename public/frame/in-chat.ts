import { listen } from './listen.ts'
import type { AppMessage, Surroundings } from './messages.ts'
import { put } from './quiet.ts'

/**
 * Fits a page into the chat of a host: its language, the height of its content, and the full screen
 * of the host in place of the browser's, which frames of a chat do not get.
 */
export function inChat({ locale }: Surroundings, tell: (message: AppMessage) => void): void {
  if (locale !== '') {
    put(navigator, 'language', locale)
    put(navigator, 'languages', Object.freeze([locale]))
  }
  const setFull = async (isFull: boolean): Promise<void> => tell({ type: 'service:full', isFull })
  put(Element.prototype, 'requestFullscreen', () => setFull(true))
  put(Document.prototype, 'exitFullscreen', () => setFull(false))
  tellSizes(tell)
}

/** Tells the height that the content needs, after each change. */
function tellSizes(tell: (message: AppMessage) => void): void {
  const root = document.documentElement
  const { ResizeObserver, requestAnimationFrame: nextFrame } = window
  let reported = -1
  let isWaiting = false
  const measure = (): void => {
    isWaiting = false
    const { style } = root
    const [value, priority] = [
      style.getPropertyValue('height'),
      style.getPropertyPriority('height'),
    ]
    style.setProperty('height', 'max-content', 'important')
    const height = Math.ceil(root.getBoundingClientRect().height)
    style.setProperty('height', value, priority)
    if (height === reported) return
    reported = height
    tell({ type: 'service:size', height })
  }
  const observer = new ResizeObserver(() => {
    if (!isWaiting) nextFrame(measure)
    isWaiting = true
  })
  observer.observe(root)
  listen('DOMContentLoaded', () => document.body && observer.observe(document.body), { once: true })
}
