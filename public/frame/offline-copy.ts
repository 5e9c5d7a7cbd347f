/**
 * The service worker of one installed app. It opens the copy of the app while the server cannot be
 * reached, and answers nothing else: no other page, no operation and no request of the app's frame.
 */
import { field, text } from './messages.ts'
import { sharedBytesMax, sharedFilesMax, sharedPath, sharedQuery, textNames } from './received.ts'

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
const textCharsMax = 64
/** Above the bounds of the server (src/apps/viewer/offline-copy.ts). */
const partsMax = 1_000
/** The code by which this server says that an app has no copy. No proxy on the way sends it. */
const noCopy = 'no_copy'

/** Path of the app. Its scope is also that of what is below the path. */
const { pathname: at } = new URL(registration.scope)
/** Path of the list of the parts of a copy, which are below it or shared by all apps. */
const list = `${at}/offline`
const page = `${list}/page`
const sharedParts = /^\/a\/(?:libraries|late)\//

/** The address of shared texts and files that the person has not decided about. */
const shared = list + sharedPath
const sharedCache = `shared ${at}`
/** Marks the copy of a version that takes shared files. The server has no such part. */
const takesFilesMark = `${list}/takes-files`

/** Returns the names of the caches of this app: one for each copy. */
const cacheNames = async (): Promise<string[]> =>
  (await caches.keys()).filter((name) => name.startsWith(`${at} `))

/** Finds a part of the copy by its URL. */
async function findPart(url: string): Promise<Response | undefined> {
  for (const name of await cacheNames()) {
    const found = await (await caches.open(name)).match(url, { ignoreVary: true })
    if (found) return found
  }
  return undefined
}

/** Removes the copy, and then this worker. */
async function removeCopy(): Promise<void> {
  await caches.delete(sharedCache)
  for (const name of await cacheNames()) await caches.delete(name)
  await registration.unregister()
}

/** Returns whether the server of a response is there, and not only the proxy before it. */
const isServed = ({ status }: Response): boolean => ![502, 503, 504].includes(status)

/** Requests have no cookie, so that a copy has nothing of the person. */
const asNobody = (url: string): Request =>
  new Request(url, { credentials: 'omit', cache: 'no-cache' })

interface CopyList {
  key: string
  parts: string[]
  takesFiles: boolean
}

/**
 * Lists the parts of the newest copy; undefined for an app that this server says has none. Throws
 * for any other response, such as that of a captive portal.
 */
async function fetchList(): Promise<CopyList | undefined> {
  const response = await fetch(asNobody(list))
  const found: unknown = await response.json()
  if (text(found, 'code', textCharsMax) === noCopy) return undefined
  const key = text(found, 'key', textCharsMax)
  const given = field(found, 'parts')
  const parts = Array.isArray(given) ? given.map(String) : []
  if (!response.ok || key === '' || !parts.includes(page) || parts.length > partsMax)
    throw new Error(`The list of the copy is not valid: ${response.status}.`)
  return { key, parts, takesFiles: field(found, 'takesFiles') === true }
}

/**
 * Copies the newest version, unless it is copied. Removes the copy of an app that has none any
 * more, and returns whether there is one.
 */
async function updateCopy(): Promise<boolean> {
  const newest = await fetchList()
  if (!newest) {
    await removeCopy()
    return false
  }
  const name = `${at} ${newest.key}`
  const cache = await caches.open(name)
  if (!(await cache.match(page, { ignoreVary: true }))) {
    if (newest.takesFiles) await cache.put(takesFilesMark, new Response())
    // All parts or none.
    await cache.addAll(newest.parts.map(asNobody)).catch(async (error: unknown) => {
      await caches.delete(name)
      throw error
    })
  }
  for (const old of await cacheNames()) if (old !== name) await caches.delete(old)
  return true
}

/** Saves the first copy. Without one there is no worker. */
async function install(): Promise<void> {
  if (!(await updateCopy())) throw new Error('The app has no copy.')
  await skipWaiting()
}

/** Opens the app: from the server, or its copy where that does not respond. */
async function open(event: FetchEvent): Promise<Response> {
  const copied = await findPart(page)
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, waitMs))
  // A browser that is short of space may have removed the copy.
  const first = [fetch(event.request), ...(copied ? [late] : [])]
  const response = await Promise.race(first).catch(() => undefined)
  if (!response || !isServed(response)) return copied ?? response ?? Response.error()
  event.waitUntil(updateCopy().catch(() => undefined))
  return response
}

/**
 * Keeps what another app shares with this one, until the person decides. Any site can send such a
 * form, so nothing is read for an app that takes no files.
 */
async function keepShared(request: Request): Promise<Response> {
  if (!(await findPart(takesFilesMark))) return Response.redirect(at, 303)
  const given = await request.formData()
  const kept = new FormData()
  for (const name of textNames) kept.set(name, String(given.get(name) ?? ''))
  let bytes = 0
  for (const file of given.getAll('files').slice(0, sharedFilesMax)) {
    if (!(file instanceof File) || bytes + file.size > sharedBytesMax) continue
    bytes += file.size
    kept.append('files', file)
  }
  await (await caches.open(sharedCache)).put(shared, new Response(kept))
  return Response.redirect(`${at}?${sharedQuery}`, 303)
}

/** Returns what was shared, until the page deletes it. */
async function serveShared({ method }: Request): Promise<Response> {
  const found = await (await caches.open(sharedCache)).match(shared)
  if (!found || method === 'DELETE') await caches.delete(sharedCache)
  return found ?? new Response(null, { status: 404 })
}

addEventListener('install', (event) => {
  if (isWorkerEvent(event)) event.waitUntil(install())
})
addEventListener('fetch', (event) => {
  if (!isFetchEvent(event)) return
  const { request } = event
  const { origin, pathname } = new URL(request.url)
  if (origin !== location.origin) return
  if (request.method === 'POST' && pathname === at && request.mode === 'navigate')
    event.respondWith(keepShared(request))
  if (pathname === shared && /^(?:GET|DELETE)$/.test(request.method))
    return event.respondWith(serveShared(request))
  if (request.method !== 'GET') return
  if (pathname === at && request.mode === 'navigate') event.respondWith(open(event))
  else if (pathname.startsWith(`${list}/`) || sharedParts.test(pathname))
    event.respondWith(findPart(request.url).then((part) => part ?? fetch(request)))
})
