/**
 * The service worker of one installed app. It opens the copy of the app while the server cannot be
 * reached, and answers nothing else: no other page, no operation and no request of the app's frame.
 */
import { field, text } from './messages.ts'

/** An event that a worker extends, and may answer (https://w3c.github.io/ServiceWorker/). */
interface WorkerEvent extends Event {
  waitUntil(work: Promise<unknown>): void
}
interface FetchEvent extends WorkerEvent {
  request: Request
  respondWith(response: Promise<Response>): void
}

declare const registration: ServiceWorkerRegistration
declare function skipWaiting(): Promise<void>

const isWorkerEvent = (event: Event): event is WorkerEvent => 'waitUntil' in event
const isFetchEvent = (event: Event): event is FetchEvent => 'respondWith' in event

/** Time after which the copy opens, although the server may still respond. */
const waitMs = 5_000
const keyCharsMax = 64
const partsMax = 200

/** Path of the app. Its scope is also that of what is below the path. */
const { pathname: at } = new URL(registration.scope)
/** Path of the list of the parts of a copy, which are below it or shared by all apps. */
const list = `${at}/offline`
const page = `${list}/page`
const sharedParts = /^\/a\/(?:libraries|late)\//

/** Returns the names of the caches of this app: one for each copy. */
const copies = async (): Promise<string[]> =>
  (await caches.keys()).filter((name) => name.startsWith(`${at} `))

async function copied(url: string): Promise<Response | undefined> {
  for (const name of await copies()) {
    const found = await (await caches.open(name)).match(url, { ignoreVary: true })
    if (found) return found
  }
  return undefined
}

/** Removes the copy, and then this worker. */
async function forget(): Promise<void> {
  for (const name of await copies()) await caches.delete(name)
  await registration.unregister()
}

/** Returns whether a response says that the app is no longer open to everyone. */
const isEnded = ({ type, status }: Response): boolean =>
  type === 'opaqueredirect' || [401, 403, 404, 410].includes(status)

/** Returns whether the server of a response is there, and not only the proxy before it. */
const isServed = ({ status }: Response): boolean => ![502, 503, 504].includes(status)

/** Requests have no cookie, so that a copy has nothing of the person. */
const asNobody = (url: string): Request =>
  new Request(url, { credentials: 'omit', cache: 'no-cache' })

/** Copies the newest version, unless it is copied. Removes the copy of an app that has ended. */
async function copy(): Promise<void> {
  const response = await fetch(asNobody(list))
  if (isEnded(response)) await forget()
  if (!response.ok) throw new Error(`The app has no copy: ${response.status}.`)
  const found: unknown = await response.json()
  const given = field(found, 'parts')
  const parts = Array.isArray(given) ? given.slice(0, partsMax).map(String) : []
  const name = `${at} ${text(found, 'key', keyCharsMax)}`
  const cache = await caches.open(name)
  if (!(await cache.match(page, { ignoreVary: true }))) {
    // All parts or none.
    await cache.addAll(parts.map(asNobody)).catch(async (error: unknown) => {
      await caches.delete(name)
      throw error
    })
  }
  for (const old of await copies()) if (old !== name) await caches.delete(old)
}

/** Opens the app: from the server, or its copy where that does not respond. */
async function open(event: FetchEvent): Promise<Response> {
  const kept = await copied(page)
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, waitMs))
  // A browser that is short of space may have removed the copy.
  const first = [fetch(event.request), ...(kept ? [late] : [])]
  const response = await Promise.race(first).catch(() => undefined)
  if (!response || !isServed(response)) return kept ?? response ?? Response.error()
  event.waitUntil(isEnded(response) ? forget() : copy().catch(() => undefined))
  return response
}

addEventListener('install', (event) => {
  // Without a copy there is no worker.
  if (isWorkerEvent(event)) event.waitUntil(copy().then(skipWaiting))
})
addEventListener('fetch', (event) => {
  if (!isFetchEvent(event)) return
  const { request } = event
  const { origin, pathname } = new URL(request.url)
  if (origin !== location.origin || request.method !== 'GET') return
  if (pathname === at && request.mode === 'navigate') event.respondWith(open(event))
  else if (pathname.startsWith(`${list}/`) || sharedParts.test(pathname))
    event.respondWith(copied(request.url).then((part) => part ?? fetch(request)))
})
