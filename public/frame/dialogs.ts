import { watchCallers } from './callers.ts'
import { answersMax, type DialogLabels, type DialogResult } from './messages.ts'

/** Bound on queued dialogs of a page. */
const waitingMax = 5
const alertMs = 6_000
const style = `:host{all:initial;color-scheme:light dark}
dialog{width:min(26rem,80%);border:1px solid #8888;border-radius:10px;font:15px/1.45 system-ui;white-space:pre-wrap;overflow-wrap:anywhere}
dialog:not(:modal){position:fixed;inset:auto 0 1rem;z-index:2147483647}
p{margin:0 0 1rem}
input{box-sizing:border-box;width:100%;margin:0 0 1rem}
input,button{font:inherit;padding:.3rem .8rem}
form{text-align:end}
button+button{margin-inline-start:.5rem}`

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
function show(content: Dialog, labels: DialogLabels, done: () => void): void {
  const host = make('div', {})
  const dialog = make('dialog', {})
  const input = make('input', { value: content.begin ?? '' })
  const form = make('form', { method: 'dialog' })
  const ok = make('button', { textContent: labels.ok, value: 'ok', autofocus: true })
  const focused = document.activeElement
  if (content.yes) form.append(make('button', { textContent: labels.cancel, value: '' }))
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

/** Time for which an answer waits for the code that asked. */
const resultMs = 5_000

/**
 * Installs alert, confirm and prompt that do not block. confirm first returns false and prompt
 * null. After OK, the event or the timer whose code asked is repeated, and then gets the answer.
 * Code that asked while the page loaded runs again with the page: `restart` carries its answers,
 * which `given` then holds.
 */
export function dialogs(
  given: { answers: DialogResult[]; labels: DialogLabels },
  restart: (answers: DialogResult[]) => void,
): void {
  const waiting: Dialog[] = []
  const answers = new Map(given.answers)
  const whileLoading = new Map(given.answers)
  const repeatOf = watchCallers()
  /** Answers in the code that is repeated now, which it needs again for a further question. */
  let repeated: DialogResult[] = []
  let shown = false

  const next = (): void => {
    const content = waiting.shift()
    shown = content !== undefined
    if (content) show(content, given.labels, next)
  }
  const showDialog = (content: Dialog): void => {
    if (waiting.length >= waitingMax || waiting.some(({ text }) => text === content.text)) return
    waiting.push(content)
    if (!shown) next()
  }
  /** Returns the recent answer to this question; undefined while the dialog is open. */
  const ask = (kind: string, text: string, begin?: string): string | undefined => {
    const key = `${kind} ${text}`
    const result = answers.get(key)
    answers.delete(key)
    if (result !== undefined) return result
    const repeat = repeatOf()
    const before = repeated
    const yes = (typed: string): void => {
      if (repeat === 'page') {
        whileLoading.set(key, typed)
        return restart([...whileLoading].slice(-answersMax))
      }
      repeated = [...before, [key, typed]]
      for (const [question, result] of repeated) answers.set(question, result)
      // Without a caller to repeat, the answer is for the next time that the code asks.
      if (!repeat) return
      setTimeout(() => answers.delete(key), resultMs)
      repeat()
      repeated = []
    }
    showDialog(begin === undefined ? { text, yes } : { text, yes, begin })
    return undefined
  }
  const text = (value: unknown): string =>
    (value === undefined ? '' : String(value)).slice(0, 4_000)
  window.alert = (message?: unknown) => showDialog({ text: text(message) })
  window.confirm = (message?: unknown) => ask('confirm', text(message)) !== undefined
  window.prompt = (message?: unknown, begin?: unknown) =>
    ask('prompt', text(message), text(begin)) ?? null
}
