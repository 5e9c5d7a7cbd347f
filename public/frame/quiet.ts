/** Things that throw in a document without an origin, and that pages touch in passing. */

const never = new Promise<never>(() => undefined)

/** Replaces a property on an object; the app may replace it again, or give it another value. */
export function put(owner: object, name: string, value: unknown): void {
  Object.defineProperty(owner, name, { value, writable: true, configurable: true })
}

/** What is asked for is refused, as where the person said no. */
export const refuse = async (): Promise<never> => {
  throw new DOMException('Not here.', 'NotAllowedError')
}

/** A request or a socket that fails as a browser's does: by events, after its maker went on. */
class Refused extends EventTarget {
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
        const hear: unknown = Reflect.get(this, `on${type}`)
        if (typeof hear === 'function') hear.call(this, event)
      }
    })
  }
  send(): void {}
  close(): void {}
}

/** Firefox and WebKit throw where a socket is made; a wrong address throws everywhere. */
function sockets(): void {
  const construct = (real: typeof WebSocket, given: [string | URL]): object => {
    try {
      return Reflect.construct(real, given)
    } catch (error) {
      const isRefused = error instanceof DOMException && error.name === 'SecurityError'
      if ((error instanceof DOMException && !isRefused) || error instanceof TypeError) throw error
      return new Refused(3, 'error', 'close')
    }
  }
  window.WebSocket = new Proxy(WebSocket, { construct })
}

/** document.cookie as a small jar in memory: what is set can be read, until the page goes. */
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
  const nothing = async (): Promise<undefined> => undefined
  const no = async (): Promise<boolean> => false
  const none = async (): Promise<never[]> => []
  const cache = { match: nothing, matchAll: none, add: nothing, addAll: nothing, put: nothing }
  const open = async (): Promise<object> => ({ ...cache, delete: no, keys: none })
  put(window, 'caches', { open, match: nothing, has: no, delete: no, keys: none })
  put(window, 'indexedDB', {
    open: () => new Refused('done', 'error'),
    deleteDatabase: () => new Refused('done', 'error'),
    databases: none,
    cmp: (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0),
  })
  const worker = { controller: null, ready: never, register: () => never, startMessages() {} }
  put(
    navigator,
    'serviceWorker',
    Object.assign(new EventTarget(), worker, { getRegistration: nothing, getRegistrations: none }),
  )
  put(navigator, 'storage', {
    estimate: async () => ({ quota: 1_048_576, usage: 0 }),
    persist: no,
    persisted: no,
    getDirectory: refuse,
  })
  put(window, 'print', () => undefined)
  // Firefox would ask whether it may, where nobody sees the question.
  if ('requestMIDIAccess' in navigator) put(navigator, 'requestMIDIAccess', refuse)
}
