/** Queues messages until the module has run, as the browser does. */
const begin = (url: string): string => `{
const early = []
const keep = (event) => { early.push(event); event.stopImmediatePropagation() }
addEventListener('message', keep)
import('${url}').then(() => {
  removeEventListener('message', keep)
  for (const { data, ports } of early) {
    dispatchEvent(new MessageEvent('message', { data, ports: [...ports] }))
  }
}, (error) => setTimeout(() => { throw error })).finally(() => URL.revokeObjectURL('${url}'))
}`

/**
 * Starts module workers: in an opaque origin Chromium cannot load one from a blob: URL. A classic
 * worker imports the module from a URL of its own, since pages revoke theirs at once.
 */
export function moduleWorkers(): void {
  const blobs = new Map<string, Blob>()
  const { createObjectURL, revokeObjectURL } = URL
  URL.createObjectURL = (thing) => {
    const url = createObjectURL(thing)
    if (thing instanceof Blob) blobs.set(url, thing)
    return url
  }
  URL.revokeObjectURL = (url) => {
    blobs.delete(String(url))
    revokeObjectURL(url)
  }
  const construct = (
    real: typeof Worker,
    given: [string | URL, WorkerOptions?],
    made: NewableFunction,
  ): object => {
    const [address, options] = given
    const blob = options?.type === 'module' ? blobs.get(String(address)) : undefined
    if (!blob) return Reflect.construct(real, given, made)
    const code = new Blob([begin(createObjectURL(blob))], { type: 'text/javascript' })
    const url = createObjectURL(code)
    try {
      return Reflect.construct(real, [url, { ...options, type: 'classic' }], made)
    } finally {
      revokeObjectURL(url)
    }
  }
  window.Worker = new Proxy(Worker, { construct })
}
