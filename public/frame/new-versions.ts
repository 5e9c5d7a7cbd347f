import type { Offer } from './notices.ts'

interface Opened {
  /** Path of the app's data. */
  at: string
  version: number
  notify(offer: Offer): void
  /** Lets the app save. */
  save(): Promise<void>
  /** The app is no longer open to this browser. */
  close(): void
}

/** Learns of new versions while the page is open. Offers them, or takes them for a live app. */
export function watchVersions({ at, version, notify, save, close }: Opened): void {
  const update = async (): Promise<void> => {
    await save()
    location.reload()
  }
  let events: EventSource | undefined
  const take = ({ data }: MessageEvent): void => {
    const [newest, live] = String(data).split(' ')
    if (newest === 'closed') {
      events?.close()
      close()
    } else if (Number(newest) !== version) {
      if (live) void update()
      else notify({ text: 'A new version is ready.', label: 'Update', press: update })
    }
  }
  // A browser has six HTTP/1.1 connections to a server, which hidden and left pages must not hold.
  const follow = (): void => {
    events?.close()
    if (document.hidden) return
    events = new EventSource(`${at}/now`)
    events.onmessage = take
  }
  document.addEventListener('visibilitychange', follow)
  follow()
}
