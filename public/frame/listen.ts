/** The guard's listeners on the app's window, added with functions that the app cannot replace. */
const add = addEventListener.bind(window)
const kept: (() => void)[] = []

/** Adds a listener that survives when the app reopens its document. */
export function listen<K extends keyof WindowEventMap>(
  type: K,
  listener: (event: WindowEventMap[K]) => void,
  options: AddEventListenerOptions = {},
): void {
  const again = (): void => add(type, listener, options)
  kept.push(again)
  again()
}

/**
 * document.open(), and write() after load, remove all listeners from the window (HTML 8.4.1). This
 * adds the guard's listeners again before a script of the new text can run.
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
      // Writing '' first opens the document as the text would.
      apply(write, this, [''])
      again()
      apply(real, this, given)
    })
  }
}
