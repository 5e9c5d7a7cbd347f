import { t } from '../words.ts'
import type { Shell } from './opened-page.ts'
import { letSave } from './sent.ts'

const retryMs = 5_000
/** A browser has six HTTP/1.1 connections to a server. Its pages hold so many of them at a time. */
const heldMax = 3
/** Pages beyond these ask again after this time. */
const askAgainMs = 1_500

/** Holds a place of this browser. Returns the function that frees it; undefined if it is taken. */
const holdPlace = (place: number): Promise<(() => void) | undefined> =>
  new Promise((resolve) => {
    const hold = (lock: Lock | null) => (lock ? new Promise<void>(resolve) : resolve(undefined))
    navigator.locks.request(`now:${place}`, { ifAvailable: true }, hold).catch(() => {
      resolve(undefined)
    })
  })

/** Holds the first free place. Pages over plain HTTP have no locks: each holds a connection. */
async function findPlace(): Promise<(() => void) | undefined> {
  if (!('locks' in navigator)) return () => undefined
  for (let place = 0; place < heldMax; place += 1) {
    const free = await holdPlace(place)
    if (free) return free
  }
  return undefined
}

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
  let freePlace: (() => void) | undefined
  let seen = ''
  let turn = 0
  const stop = (): void => {
    turn += 1
    events?.close()
    freePlace?.()
  }
  const take = (data: string): void => {
    if (data === seen) return
    seen = data
    const [newest, live] = data.split(' ')
    if (newest === 'closed') {
      stop()
      fail(t('This app is closed. Reload the page to see why.'))
    } else if (Number(newest) !== version) {
      if (live) void update()
      else notify({ text: t('A new version is ready.'), label: t('Update'), press: update })
    }
  }
  // Hidden and left pages hold no connection.
  const follow = async (): Promise<void> => {
    stop()
    if (document.hidden) return
    const own = turn
    const later = (afterMs: number): void => {
      setTimeout(() => own === turn && void follow(), afterMs)
    }
    const free = await findPlace()
    if (own !== turn) return free?.()
    freePlace = free
    const source = new EventSource(`${at}/now`)
    events = source
    source.onmessage = ({ data }) => {
      take(String(data))
      if (free || own !== turn) return
      source.close()
      later(askAgainMs)
    }
    // Browsers give up after an error of a proxy or a busy server.
    source.onerror = () => source.readyState === EventSource.CLOSED && later(retryMs)
  }
  document.addEventListener('visibilitychange', () => void follow())
  void follow()
}
