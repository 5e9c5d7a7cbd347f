/** Replaces APIs that throw in a document with an opaque origin. */

const never = new Promise<never>(() => undefined)

/** Replaces a property. The app can replace it again or assign to it. */
export function put(owner: object, name: string, value: unknown): void {
  Object.defineProperty(owner, name, { value, writable: true, configurable: true })
}

/** Rejects as if the person had denied permission. */
export const deny = async (): Promise<never> => {
  throw new DOMException('Not available in the sandbox.', 'NotAllowedError')
}

/** A request or socket that fails asynchronously by events, as in a browser. */
class FailingTarget extends EventTarget {
  error = new DOMException('Use localStorage.', 'UnknownError')
  result = undefined

  constructor(
    readonly readyState: string | number,
    ...events: string[]
  ) {
    super()
    setTimeout(() => {
      for (const type of events) {
        const event = new Event(type)
        this.dispatchEvent(event)
        const listen: unknown = Reflect.get(this, `on${type}`)
        if (typeof listen === 'function') listen.call(this, event)
      }
    })
  }
  send(): void {}
  close(): void {}
}

/** Returns whether a constructor threw because of the policy, and not for its arguments. */
const isPolicyError = (error: unknown): boolean =>
  !(error instanceof TypeError) &&
  (!(error instanceof DOMException) || error.name === 'SecurityError')

/** A WebSocket that fails by events. Firefox and WebKit would throw in the constructor. */
function sockets(): void {
  const construct = (real: typeof WebSocket, given: [string | URL]): object => {
    try {
      const socket: WebSocket = Reflect.construct(real, given)
      // Chromium fires no close event for a socket that the policy blocks.
      socket.addEventListener('error', () => {
        let isClosed = false
        socket.addEventListener('close', () => void (isClosed = true), { once: true })
        setTimeout(() => isClosed || socket.dispatchEvent(new CloseEvent('close', { code: 1006 })))
      })
      return socket
    } catch (error) {
      if (!isPolicyError(error)) throw error
      return new FailingTarget(3, 'error', 'close')
    }
  }
  window.WebSocket = new Proxy(WebSocket, { construct })
}

/** An EventSource that fails by an event. WebKit would throw in the constructor. */
function eventSources(): void {
  const construct = (real: typeof EventSource, given: [string | URL]): object => {
    try {
      return Reflect.construct(real, given)
    } catch (error) {
      if (!isPolicyError(error)) throw error
      return new FailingTarget(2, 'error')
    }
  }
  window.EventSource = new Proxy(EventSource, { construct })
}

/** document.cookie in memory, for the life of the page. */
function cookies(): void {
  const jar = new Map<string, string>()
  Object.defineProperty(document, 'cookie', {
    get: () => [...jar].map(([name, value]) => `${name}=${value}`).join('; '),
    set(line: string) {
      const [, name = '', value = ''] = /^([^=;]*)=?([^;]*)/.exec(String(line)) ?? []
      const gone = /max-age\s*=\s*(?:0|-)|expires\s*=[^;]*\b19[0-9]{2}\b/i.test(String(line))
      if (gone) jar.delete(name.trim())
      else if (jar.size < 100) jar.set(name.trim(), value.trim().slice(0, 4096))
    },
    configurable: true,
  })
}

export function quiet(): void {
  cookies()
  sockets()
  eventSources()
  const nothing = async (): Promise<undefined> => undefined
  const no = async (): Promise<boolean> => false
  const none = async (): Promise<never[]> => []
  const cache = { match: nothing, matchAll: none, add: nothing, addAll: nothing, put: nothing }
  const open = async (): Promise<object> => ({ ...cache, delete: no, keys: none })
  put(window, 'caches', { open, match: nothing, has: no, delete: no, keys: none })
  // Pages that use it get databases.ts.
  put(window, 'indexedDB', {
    open: () => new FailingTarget('done', 'error'),
    deleteDatabase: () => new FailingTarget('done', 'error'),
    databases: none,
    cmp: (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0),
  })
  const states = { installing: null, waiting: null, active: null, scope: document.baseURI }
  const registered = { ...states, update: nothing, unregister: no, showNotification: deny }
  // Pages wait for it before they start. Nothing is installed, so none is ever ready.
  const register = async (): Promise<object> => Object.assign(new EventTarget(), registered)
  const worker = { controller: null, ready: never, register, startMessages() {} }
  put(
    navigator,
    'serviceWorker',
    Object.assign(new EventTarget(), worker, { getRegistration: nothing, getRegistrations: none }),
  )
  put(navigator, 'storage', {
    estimate: async () => ({ quota: 5 * 1_048_576, usage: 0 }),
    persist: no,
    persisted: no,
    getDirectory: deny,
  })
  // Pages that go full screen lock keys. Chromium rejects that in a frame.
  if ('keyboard' in navigator) put(Object(navigator.keyboard), 'lock', nothing)
  // Firefox would show a permission prompt outside the visible page.
  if ('requestMIDIAccess' in navigator) put(navigator, 'requestMIDIAccess', deny)
}
