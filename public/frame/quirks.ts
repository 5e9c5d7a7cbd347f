import { declarations, isLength, withUnits } from './quirks-text.ts'

const dashed = (name: string): string => name.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`)

/** Adds the unit to a length that a script sets. null removes a property, like ''. */
const lengths = (value: unknown): string => (value === null ? '' : withUnits(String(value)))

/** Makes a style object accept `left = 40` and `width = '100'`, as in quirks mode. */
function lenient(style: CSSStyleDeclaration): CSSStyleDeclaration {
  const setProperty = (name: string, value: string | null, priority?: string): void =>
    style.setProperty(name, isLength(name) ? lengths(value) : value, priority)
  return new Proxy(style, {
    get(target, name) {
      if (name === 'setProperty') return setProperty
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
    set(target, name, value: unknown) {
      const property = typeof name === 'string' ? dashed(name) : ''
      if (property === 'css-text') return Reflect.set(target, name, declarations(String(value)))
      return Reflect.set(target, name, isLength(property) ? lengths(value) : value)
    },
  })
}

/** Emulates lengths set by scripts and body's sizes of quirks mode (CSSOM View 6). */
export function quirks(): void {
  const kept = new WeakMap<CSSStyleDeclaration, CSSStyleDeclaration>()
  for (const owner of [HTMLElement.prototype, SVGElement.prototype]) {
    const real = Object.getOwnPropertyDescriptor(owner, 'style')
    Object.defineProperty(owner, 'style', {
      ...real,
      get(this: HTMLElement) {
        const style: CSSStyleDeclaration = real?.get?.call(this)
        const made = kept.get(style) ?? lenient(style)
        kept.set(style, made)
        return made
      },
      set(this: HTMLElement, css: string) {
        real?.set?.call(this, declarations(String(css)))
      },
    })
  }
  const setAttribute = Element.prototype.setAttribute
  Element.prototype.setAttribute = function (name: string, value: string) {
    const css = /^style$/i.test(name) ? declarations(String(value)) : value
    return setAttribute.call(this, name, css)
  }
  const root = document.documentElement
  for (const name of ['clientHeight', 'clientWidth', 'scrollHeight', 'scrollWidth'] as const) {
    Object.defineProperty(HTMLBodyElement.prototype, name, {
      get: () => root[name],
      configurable: true,
    })
  }
  for (const name of ['scrollTop', 'scrollLeft'] as const) {
    Object.defineProperty(HTMLBodyElement.prototype, name, {
      get: () => root[name],
      set: (value: number) => void (root[name] = value),
      configurable: true,
    })
  }
}
