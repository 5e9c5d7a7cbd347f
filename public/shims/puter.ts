/**
 * Puter: what every page of it may use, by the script https://js.puter.com/v2/. Its other parts are
 * puter-ai.ts and puter-kv.ts. Source: https://docs.puter.com (November 2026).
 */
import { extend, textOf } from './bridge-calls.ts'

const user = { uuid: 'player', username: 'player', email_confirmed: false }

extend('puter', {
  auth: {
    isSignedIn: () => true,
    signIn: async () => ({ success: true }),
    signOut: (): void => undefined,
    getUser: async () => user,
  },
  print: (...values: unknown[]): void => document.body.append(...values.map(textOf)),
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
