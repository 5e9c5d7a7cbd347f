import { type Addresses, startOfName } from './file-urls.ts'
import type { OwnFiles } from './messages.ts'
import { begin, recordBlobs } from './workers.ts'

const placeholder = 'berth-module:'

/**
 * Start of a worker of a file, in a blob: an opaque origin cannot start a worker at another
 * address. The worker then finds its files from the address of its own, as on a static host, and so
 * do the workers that it starts. Scripts of files are loaded as texts, because browsers hide what a
 * script of another origin throws. WebKit hides that of a revoked blob, too.
 */
const starter = `(function start(url, address, names, module, table) {
const known = new Set(names), copied = new Map(table), { origin, pathname } = new URL(address);
const has = (path) => known.has(decodeURIComponent(path).normalize());
const own = (given) => {
try {
const found = new URL(given, url), { href } = found;
if (found.origin !== origin || href.startsWith(address)) return href;
const from = (${startOfName})(found.pathname, pathname, has);
return has(found.pathname.slice(from)) ? address + href.slice(origin.length + from) : href;
} catch { return given }
};
const at = (given) => { const to = own(given); return copied.get(String(to).replace(/[?#].*/, '')) ?? to };
const { fetch, importScripts, Request: Real, Worker: Own } = self, { open } = XMLHttpRequest.prototype;
const loadable = (input) => input instanceof Real ? input : at(input);
const simple = (given) => [...new Headers(given)].filter(([name]) => /^(?:accept|accept-language|range)$/.test(name));
const isFile = (to) => String(to).startsWith(address), isCopy = copied.size > 0;
self.fetch = (input, init) => {
const to = at(input?.url ?? input), headers = init?.headers ?? input?.headers;
if (isCopy && isFile(to)) return Promise.resolve(new Response('', { status: 404 }));
const options = { ...(input?.url && { method: input.method, signal: input.signal }), ...init };
return isFile(to) ? fetch.call(self, to, { ...options, headers: simple(headers), mode: 'cors', credentials: 'same-origin' }) : fetch.call(self, loadable(input), init);
};
self.Request = class Request extends Real { constructor(input, init) { super(loadable(input), init) } };
XMLHttpRequest.prototype.open = function (method, to, ...rest) {
return open.call(this, method, at(to), ...(rest.length > 0 ? rest : [true]));
};
const load = (to) => {
if (!String(to).startsWith(address)) return importScripts.call(self, to);
const request = new XMLHttpRequest();
open.call(request, 'GET', to, false);
request.overrideMimeType('text/javascript;charset=utf-8');
request.send();
if (request.status !== 200) return importScripts.call(self, to);
const blob = URL.createObjectURL(new Blob([request.responseText, '\\n//# sourceURL=' + to], { type: 'text/javascript' }));
importScripts.call(self, blob);
};
self.importScripts = (...urls) => urls.map(at).forEach(load);
Object.defineProperty(self, 'location', { value: new URL(url), configurable: true });
if (Own) self.Worker = new Proxy(Own, { construct(real, [to, options], made) {
const inner = own(to), loaded = at(to);
if (!String(inner).startsWith(address)) return Reflect.construct(real, [to, options], made);
const run = options?.type === 'module' ? module.replaceAll('${placeholder}', loaded) : 'importScripts(' + JSON.stringify(loaded) + ')';
const code = '(' + start + ')(' + [inner, address, names, module, table].map((one) => JSON.stringify(one)) + ');' + run;
const blob = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));
return Reflect.construct(real, [blob, { ...options, type: 'classic' }], made);
} });
})`.replaceAll('\n', ' ')

const importerBytesMax = 2_000

/**
 * Returns code of a classic worker that starts a short script. One that only imports a file becomes
 * a module: so Parcel starts a worker where the origin of the page is not that of its files.
 */
const beginShort = (url: string): string => `(function (url) {
const request = new XMLHttpRequest();
request.open('GET', url, false);
request.send();
const file = /^\\s*import\\s*["']([^"'\\n]+)["'];?\\s*$/.exec(request.responseText);
if (!file) return importScripts(url);
${begin(placeholder).replaceAll(`'${placeholder}'`, 'file[1]')}
})(${JSON.stringify(url)})`

/**
 * Starts workers of files, and lets those of blobs load files by the names that the page uses. Runs
 * after `workers`, which then sees blobs only.
 */
export function fileWorkers(
  { address, names }: Pick<OwnFiles, 'address' | 'names'>,
  { base, urlOf, copy }: Addresses,
): void {
  const { blobs, createObjectURL } = recordBlobs()
  const setUp = (url: string): string =>
    `${starter}(${[url, address, names, begin(placeholder), copy?.table ?? []]
      .map((one) => JSON.stringify(one))
      .join()});`
  const construct = (
    real: typeof Worker,
    [given, options]: [string | URL, WorkerOptions?],
    made: NewableFunction,
  ): object => {
    const file = urlOf(given)
    const blob = blobs.get(String(given))
    if (file === undefined && !blob) return Reflect.construct(real, [given, options], made)
    const isModule = options?.type === 'module'
    /** The URL of a module, which ends once it is imported: that of a copy's file stays. */
    const urlOfStart = (): string =>
      file !== undefined && copy
        ? createObjectURL(new Blob([`import '${file}'`], { type: 'text/javascript' }))
        : (file ?? (blob ? createObjectURL(blob) : ''))
    const isShort = blob !== undefined && blob.size <= importerBytesMax
    const classic = (): BlobPart =>
      isShort ? beginShort(urlOfStart()) : (blob ?? `importScripts(${JSON.stringify(file)})`)
    const run = isModule ? begin(urlOfStart()) : classic()
    const here = copy?.original(file) ?? file ?? base
    const code = new Blob([setUp(here), run], { type: 'text/javascript' })
    return Reflect.construct(real, [createObjectURL(code), { ...options, type: 'classic' }], made)
  }
  window.Worker = new Proxy(Worker, { construct })
}
