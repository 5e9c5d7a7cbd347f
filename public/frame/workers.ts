/** Imports a module into a classic worker. Queues messages until it has run, as browsers do. */
export const begin = (url: string): string => `{
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
 * Start of every worker in the fallback, on its first line: workers inherit Trusted Types, and
 * without a policy of their own they have no eval, new Function or importScripts. They have no
 * elements, and the policy of the wrapper keeps them off the network. Workers that a worker starts
 * get the same start.
 */
const prelude = `(function start() {
if (self.trustedTypes) try {
const same = (text) => text;
trustedTypes.createPolicy('default', { createHTML: same, createScript: same, createScriptURL: same });
} catch {}
if (!self.Worker) return;
const blobs = new Map(), { createObjectURL, revokeObjectURL } = URL;
URL.createObjectURL = (thing) => {
const url = createObjectURL(thing);
if (thing instanceof Blob) blobs.set(url, thing);
return url;
};
URL.revokeObjectURL = (url) => { blobs.delete(String(url)); revokeObjectURL(url); };
self.Worker = new Proxy(Worker, { construct(real, [url, options], made) {
const blob = blobs.get(String(url));
const code = blob && new Blob(['(' + start + ')();', blob], { type: 'text/javascript' });
return Reflect.construct(real, [code ? createObjectURL(code) : url, options], made);
} });
})();`.replaceAll('\n', ' ')

/** Time in which a browser fetches the code of a worker. */
const keptMs = 10_000

type WorkerArguments = [url: string | URL, options?: WorkerOptions]

/** Returns the code of a worker with its options; undefined to start it as the page does. */
type Prepare = (
  blob: Blob,
  options: WorkerOptions | undefined,
  createUrl: typeof URL.createObjectURL,
) => { code: BlobPart[]; options: WorkerOptions | undefined } | undefined

/** In an opaque origin Chromium cannot load a module worker from a blob: URL, but import it. */
const asClassic: Prepare = (blob, options, createUrl) =>
  options?.type === 'module'
    ? { code: [begin(createUrl(blob))], options: { ...options, type: 'classic' } }
    : undefined

const withPrelude: Prepare = (blob, options) => ({ code: [prelude, blob], options })

/** Records the blobs of URLs that the page creates, from now on. Returns the functions before. */
export function recordBlobs() {
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
  return { blobs, createObjectURL, revokeObjectURL }
}

/**
 * Changes workers that start from blob: URLs. Each gets a URL of its own, since pages revoke theirs
 * at once.
 */
export function workers(needsFallback: boolean): void {
  const prepare = needsFallback ? withPrelude : asClassic
  const later = setTimeout.bind(window)
  const { blobs, createObjectURL, revokeObjectURL } = recordBlobs()
  const construct = (
    real: typeof Worker,
    given: WorkerArguments,
    made: NewableFunction,
  ): object => {
    const [address, options] = given
    const blob = blobs.get(String(address))
    const prepared = blob && prepare(blob, options, createObjectURL)
    if (!prepared) return Reflect.construct(real, given, made)
    const url = createObjectURL(new Blob(prepared.code, { type: 'text/javascript' }))
    later(() => revokeObjectURL(url), keptMs)
    return Reflect.construct(real, [url, prepared.options], made)
  }
  window.Worker = new Proxy(Worker, { construct })
}
