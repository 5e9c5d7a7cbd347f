import type { OwnFiles } from './messages.ts'
import { begin } from './workers.ts'

const placeholder = 'berth-module:'

/**
 * Start of a worker of a file, in a blob: an opaque origin cannot start a worker at another
 * address. The worker then finds its files from the address of its own, as on a static host, and so
 * do the workers that it starts.
 */
const starter = `(function start(url, address, names, module) {
const known = new Set(names), { origin } = new URL(address);
const at = (given) => {
try {
const found = new URL(given, url), path = found.href.slice(origin.length + 1);
const isOutside = found.origin === origin && !found.href.startsWith(address);
return isOutside && known.has(decodeURIComponent(found.pathname.slice(1))) ? address + path : found.href;
} catch { return given }
};
const { fetch, importScripts, Request: Real, Worker: Own } = self, { open } = XMLHttpRequest.prototype;
const loadable = (input) => input instanceof Real ? input : at(input);
self.fetch = (input, init) => fetch.call(self, loadable(input), init);
self.Request = class Request extends Real { constructor(input, init) { super(loadable(input), init) } };
XMLHttpRequest.prototype.open = function (method, to, ...rest) {
return open.call(this, method, at(to), ...(rest.length > 0 ? rest : [true]));
};
self.importScripts = (...urls) => importScripts.apply(self, urls.map(at));
Object.defineProperty(self, 'location', { value: new URL(url), configurable: true });
if (Own) self.Worker = new Proxy(Own, { construct(real, [to, options], made) {
const inner = at(to);
if (!String(inner).startsWith(address)) return Reflect.construct(real, [to, options], made);
const run = options?.type === 'module' ? module.replaceAll('${placeholder}', inner) : 'importScripts(' + JSON.stringify(inner) + ')';
const code = '(' + start + ')(' + [inner, address, names, module].map((one) => JSON.stringify(one)) + ');' + run;
const blob = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));
return Reflect.construct(real, [blob, { ...options, type: 'classic' }], made);
} });
})`.replaceAll('\n', ' ')

/** Starts workers of files. Call it before other replacements of `Worker` see their URLs. */
export function fileWorkers(
  { address, names }: Pick<OwnFiles, 'address' | 'names'>,
  urlOf: (url: unknown) => string | undefined,
): void {
  const { createObjectURL } = URL
  const construct = (
    real: typeof Worker,
    [given, options]: [string | URL, WorkerOptions?],
    made: NewableFunction,
  ): object => {
    const url = urlOf(given)
    if (url === undefined) return Reflect.construct(real, [given, options], made)
    const setUp = [url, address, names, begin(placeholder)].map((one) => JSON.stringify(one))
    const run = options?.type === 'module' ? begin(url) : `importScripts(${JSON.stringify(url)})`
    const code = new Blob([`${starter}(${setUp.join()});${run}`], { type: 'text/javascript' })
    return Reflect.construct(real, [createObjectURL(code), { ...options, type: 'classic' }], made)
  }
  window.Worker = new Proxy(Worker, { construct })
}
