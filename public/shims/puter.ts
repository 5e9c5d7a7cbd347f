/**
 * Puter: what every page of it may use, by the script https://js.puter.com/v2/. Its other parts are
 * puter-ai.ts and puter-kv.ts. Source: https://docs.puter.com (November 2026).
 */
import { extend, textOf } from './bridge-calls.ts'

const user = { uuid: 'player', username: 'player', email_confirmed: false }

const escaped = (text: string): string =>
  Object.assign(document.createElement('p'), { textContent: text }).innerHTML

/** Appends HTML to the page. The last value may be options. */
function print(...values: unknown[]): void {
  const last = Object(values.at(-1))
  const hasOptions = 'code' in last || 'escapeHTML' in last
  const isText = last.code === true || last.escapeHTML === true
  for (const value of hasOptions ? values.slice(0, -1) : values) {
    const html = isText ? escaped(textOf(value)) : textOf(value)
    const shown = last.code === true ? `<code><pre>${html}</pre></code>` : html
    document.body.insertAdjacentHTML('beforeend', shown)
  }
}

extend('puter', {
  auth: {
    isSignedIn: () => true,
    signIn: async () => ({ success: true }),
    signOut: (): void => undefined,
    getUser: async () => user,
  },
  print,
})

// The script itself is not loaded; pages wait for it all the same.
const isPuter = (target: EventTarget | null): target is HTMLScriptElement =>
  target instanceof HTMLScriptElement && /\/\/js\.puter\.com\//.test(target.src)
addEventListener(
  'error',
  (event) => {
    if (!isPuter(event.target)) return
    event.stopImmediatePropagation()
    event.target.dispatchEvent(new Event('load'))
  },
  { capture: true },
)
