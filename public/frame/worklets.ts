import { own, test } from './patterns.ts'

const { apply } = Reflect
const text = String
const coded = encodeURIComponent

/** What only a module with modules of its own needs; `import.meta` is no such thing. */
const imports = own(/\bimport\b(?!\s*\.\s*meta\b)|\bexport\b/)

/**
 * WebKit gets what a worklet's module imports from the network, and refuses a worklet from a blob:
 * address. So its text is read here, and goes on as data: where it imports nothing.
 */
export function worklets(lock: (owner: object, name: string, value: unknown) => void): void {
  if (!('Worklet' in window)) return
  const { addModule } = Worklet.prototype
  const load = fetch.bind(window)
  lock(
    Worklet.prototype,
    'addModule',
    async function (this: Worklet, url: string, options?: object) {
      const code = text(await (await load(text(url))).text())
      if (test(imports, code)) {
        throw new DOMException('A worklet of an app may not import or export.', 'AbortError')
      }
      return apply(addModule, this, [`data:text/javascript;charset=utf-8,${coded(code)}`, options])
    },
  )
}
