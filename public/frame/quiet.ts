/** Things that throw in a document without an origin, and that pages touch in passing. */

const never = new Promise<never>(() => undefined)

/** Replaces a property on an object; the app may replace it again. */
export function put(owner: object, name: string, value: unknown): void {
  Object.defineProperty(owner, name, { get: () => value, configurable: true })
}

/** A request that fails as a browser's does when storing is switched off. */
class Refused extends EventTarget {
  error = new DOMException('Use localStorage.', 'UnknownError')
  result = undefined
  readyState = 'done'
  onerror: ((event: Event) => void) | null = null

  constructor() {
    super()
    setTimeout(() => {
      const event = new Event('error')
      this.dispatchEvent(event)
      this.onerror?.(event)
    })
  }
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
  const nothing = async (): Promise<undefined> => undefined
  const no = async (): Promise<boolean> => false
  const none = async (): Promise<never[]> => []
  const cache = { match: nothing, matchAll: none, add: nothing, addAll: nothing, put: nothing }
  const open = async (): Promise<object> => ({ ...cache, delete: no, keys: none })
  put(window, 'caches', { open, match: nothing, has: no, delete: no, keys: none })
  put(window, 'indexedDB', {
    open: () => new Refused(),
    deleteDatabase: () => new Refused(),
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
    getDirectory: async () => {
      throw new DOMException('Not here.', 'SecurityError')
    },
  })
  put(window, 'print', () => undefined)
}
