import { listen } from './listen.ts'

/** Bound on queued dialogs of a page. */
const waitingMax = 5
const alertMs = 6_000
const style = `:host{all:initial;color-scheme:light dark}
dialog{width:min(26rem,80%);border:1px solid #8888;border-radius:10px;font:15px/1.45 system-ui;white-space:pre-wrap;overflow-wrap:anywhere}
dialog:not(:modal){position:fixed;inset:auto 0 1rem;z-index:2147483647}
p{margin:0 0 1rem}
input{box-sizing:border-box;width:100%;margin:0 0 1rem}
input,button{font:inherit;padding:.3rem .8rem}
form{text-align:right}
button+button{margin-left:.5rem}`

interface Dialog {
  text: string
  /** Default text of a prompt. */
  begin?: string
  /** Called on OK. Without it, the dialog has no choice. */
  yes?: (typed: string) => void
}

function make<K extends keyof HTMLElementTagNameMap>(
  name: K,
  facts: Partial<HTMLElementTagNameMap[K]>,
): HTMLElementTagNameMap[K] {
  return Object.assign(document.createElement(name), facts)
}

/** Shows one dialog in a shadow root, isolated from the page's styles. */
function show(content: Dialog, done: () => void): void {
  const host = make('div', {})
  const dialog = make('dialog', {})
  const input = make('input', { value: content.begin ?? '' })
  const form = make('form', { method: 'dialog' })
  const ok = make('button', { textContent: 'OK', value: 'ok', autofocus: true })
  const focused = document.activeElement
  if (content.yes) form.append(make('button', { textContent: 'Cancel', value: '' }))
  form.append(ok)
  dialog.append(make('p', { textContent: content.text }))
  if (content.begin !== undefined) dialog.append(input)
  dialog.append(form)
  for (const type of ['keydown', 'keyup', 'keypress', 'pointerdown', 'mousedown', 'click']) {
    host.addEventListener(type, (event) => event.stopPropagation())
  }
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') dialog.close('ok')
  })
  dialog.addEventListener('close', () => {
    if (!host.isConnected) return
    host.remove()
    if (focused instanceof HTMLElement) focused.focus({ preventScroll: true })
    done()
    if (dialog.returnValue === 'ok') content.yes?.(input.value)
  })
  host.attachShadow({ mode: 'open' }).append(make('style', { textContent: style }), dialog)
  document.documentElement.append(host)
  if (content.yes) dialog.showModal()
  else {
    dialog.show()
    ;(focused instanceof HTMLElement ? focused : document.body)?.focus({ preventScroll: true })
    setTimeout(() => dialog.close(), alertMs)
  }
  if (content.begin !== undefined) input.select()
}

/**
 * Installs alert, confirm and prompt that do not block. confirm first returns false and prompt
 * null. After OK, the click that led here is repeated and then gets the result.
 */
export function dialogs(): void {
  const waiting: Dialog[] = []
  const answers = new Map<string, string>()
  let shown = false
  let repeat = (): void => undefined

  const next = (): void => {
    const content = waiting.shift()
    shown = content !== undefined
    if (content) show(content, next)
  }
  const showDialog = (content: Dialog): void => {
    if (waiting.length >= waitingMax || waiting.some(({ text }) => text === content.text)) return
    waiting.push(content)
    if (!shown) next()
  }
  const remember = (event: MouseEvent | KeyboardEvent): void => {
    const { target } = event
    if (!event.isTrusted || !target) return
    repeat = () => {
      const again =
        event instanceof KeyboardEvent
          ? new KeyboardEvent(event.type, event)
          : new MouseEvent(event.type, event)
      target.dispatchEvent(again)
    }
  }
  listen('click', remember, { capture: true })
  listen('keydown', remember, { capture: true })

  /** Returns the recent result of this question; undefined while the dialog is open. */
  const put = (kind: string, text: string, begin?: string): string | undefined => {
    const key = `${kind} ${text}`
    const answer = answers.get(key)
    answers.delete(key)
    if (answer !== undefined) return answer
    const again = repeat
    const yes = (typed: string): void => {
      answers.set(key, typed)
      again()
      answers.delete(key)
    }
    showDialog(begin === undefined ? { text, yes } : { text, yes, begin })
    return undefined
  }
  const text = (given: unknown): string =>
    (given === undefined ? '' : String(given)).slice(0, 4_000)
  window.alert = (given?: unknown) => showDialog({ text: text(given) })
  window.confirm = (given?: unknown) => put('confirm', text(given)) !== undefined
  window.prompt = (given?: unknown, begin?: unknown) =>
    put('prompt', text(given), text(begin)) ?? null
}
