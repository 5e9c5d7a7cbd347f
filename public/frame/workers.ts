import { type TellError, watchErrors } from './page-errors.ts'

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

/** The first message of a worker, with the port to which it tells its errors. */
const portName = 'service:errors'

/** Start of every worker, after the prelude: tells the page what it logs as errors and rejects. */
const watch = `(() => {
const early = [];
let port;
addEventListener('message', (event) => {
if (port || event.data !== '${portName}') return;
event.stopImmediatePropagation();
[port] = event.ports;
for (const sent of early) port.postMessage(sent);
});
(${watchErrors})(addEventListener, (...sent) => port ? port.postMessage(sent) : early.length < 20 && early.push(sent));
})();`

/** Time in which a browser fetches the code of a worker. */
const keptMs = 10_000

type WorkerArguments = [url: string | URL, options?: WorkerOptions]

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
 * Changes workers that start from blob: URLs. Each gets URLs of its own, since pages revoke theirs
 * at once. `failed` gets what a worker logs and rejects, with its stack.
 */
export function workers(needsFallback: boolean, failed: TellError): void {
  const later = setTimeout.bind(window)
  const { postMessage } = Worker.prototype
  const { blobs, createObjectURL, revokeObjectURL } = recordBlobs()
  const createUrl = (...code: BlobPart[]): string => {
    const url = createObjectURL(new Blob(code, { type: 'text/javascript' }))
    later(() => revokeObjectURL(url), keptMs)
    return url
  }
  /** Returns code that runs that of a blob, and the options of its worker. */
  const runOf = (blob: Blob, options: WorkerOptions | undefined): [BlobPart, WorkerOptions?] => {
    if (options?.type !== 'module') return [`importScripts('${createUrl(blob)}')`, options]
    // In an opaque origin Chromium cannot load a module worker from a blob: URL, but import it.
    return needsFallback
      ? [blob, options]
      : [begin(createObjectURL(blob)), { ...options, type: 'classic' }]
  }
  const construct = (
    real: typeof Worker,
    given: WorkerArguments,
    made: NewableFunction,
  ): object => {
    const [address, options] = given
    const blob = blobs.get(String(address))
    if (!blob) return Reflect.construct(real, given, made)
    const [run, optionsOfRun] = runOf(blob, options)
    const url = createUrl(needsFallback ? prelude : '', watch, run)
    const worker: object = Reflect.construct(real, [url, optionsOfRun], made)
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = ({ data: [kind, text, stack] }) => failed(kind, String(text), String(stack))
    Reflect.apply(postMessage, worker, [portName, [port2]])
    return worker
  }
  window.Worker = new Proxy(Worker, { construct })
}
