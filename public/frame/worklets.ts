import { own, test } from './patterns.ts'

const { apply } = Reflect
const text = String
const coded = encodeURIComponent

/** Matches import and export, but not `import.meta`. */
const imports = own(/\bimport\b(?!\s*\.\s*meta\b)|\bexport\b/)

/**
 * Loads worklets in WebKit, which fetches their imports from the network and rejects blob: URLs.
 * The text is passed on as a data: URL if it imports nothing.
 */
export function worklets(lock: (owner: object, name: string, value: unknown) => void): void {
  if (!('Worklet' in window)) return
  const { addModule } = Worklet.prototype
  lock(
    Worklet.prototype,
    'addModule',
    async function (this: Worklet, url: string, options?: object) {
      // By the fetch of that time, which finds the files of an offline copy.
      const code = text(await (await fetch(text(url))).text())
      if (test(imports, code)) {
        throw new DOMException('A worklet of an app cannot import or export.', 'AbortError')
      }
      return apply(addModule, this, [`data:text/javascript;charset=utf-8,${coded(code)}`, options])
    },
  )
}
