import { t } from '../words.ts'
import type { Shell } from './opened-page.ts'
import { letSave } from './sent.ts'

const retryMs = 5_000

/** Learns of new versions while the page is open. Offers them, or takes them for a live app. */
export function newVersions({ app, at, version, notify, host, fail }: Shell): void {
  // A preview stays at its version.
  if (!app || version === 0 || at.includes('/versions/')) return
  const update = async (): Promise<void> => {
    await letSave(host)
    location.reload()
  }
  if (at.endsWith('/offline')) {
    const offer = { text: t('You are online again.'), label: t('Update'), press: update }
    addEventListener('online', () => notify(offer))
    return
  }
  let events: EventSource | undefined
  const take = ({ data }: MessageEvent): void => {
    const [newest, live] = String(data).split(' ')
    if (newest === 'closed') {
      events?.close()
      fail(t('This app is closed. Reload the page to see why.'))
    } else if (Number(newest) !== version) {
      if (live) void update()
      else notify({ text: t('A new version is ready.'), label: t('Update'), press: update })
    }
  }
  // A browser has six HTTP/1.1 connections to a server, which hidden and left pages must not hold.
  const follow = (): void => {
    events?.close()
    if (document.hidden) return
    events = new EventSource(`${at}/now`)
    events.onmessage = take
    events.onerror = retry
  }
  /** Connects again after an error of a proxy or a busy server, where browsers give up. */
  const retry = ({ target }: Event): void => {
    if (target !== events || events?.readyState !== EventSource.CLOSED) return
    setTimeout(() => target === events && follow(), retryMs)
  }
  document.addEventListener('visibilitychange', follow)
  follow()
}
