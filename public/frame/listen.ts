/** Listeners of ours on the app's window. Taken before the app can replace what adds them. */
const add = addEventListener.bind(window)
const kept: (() => void)[] = []

/** Adds a listener that stays when the app begins its document anew. */
export function listen<K extends keyof WindowEventMap>(
  type: K,
  hear: (event: WindowEventMap[K]) => void,
  options: AddEventListenerOptions = {},
): void {
  const again = (): void => add(type, hear, options)
  kept.push(again)
  again()
}

/**
 * document.open(), and write() after the page has loaded, take every listener off the window, ours
 * as well: they are put back before a script of the new text can run. HTML 8.4.1.
 */
export function outliveOpening(): void {
  const { apply } = Reflect
  const { open, write, writeln } = Document.prototype
  const again = (): void => {
    for (let i = 0; i < kept.length; i += 1) kept[i]?.()
  }
  const replace = (name: string, value: (this: Document, ...given: string[]) => unknown): void => {
    Object.defineProperty(Document.prototype, name, { value, writable: true, configurable: true })
  }
  replace('open', function (...given) {
    const opened: unknown = apply(open, this, given)
    again()
    return opened
  })
  for (const [name, real] of Object.entries({ write, writeln })) {
    replace(name, function (...given) {
      // Nothing, written first, opens the document just where the text itself would.
      apply(write, this, [''])
      again()
      apply(real, this, given)
    })
  }
}
