/**
 * Puter: what every page of it may use, by the script https://js.puter.com/v2/. Its other parts are
 * puter-ai.ts, puter-fs.ts and puter-kv.ts. Source: https://docs.puter.com (November 2026).
 */
import { extend, textOf, unavailable } from './bridge-calls.ts'
import { countAsLoaded } from './loaded-script.ts'

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

/** Parts of Puter without a counterpart here. */
const absent = ['apps', 'drivers', 'hosting', 'net', 'peer', 'perms', 'threads', 'ui', 'workers']

extend('puter', {
  ...Object.fromEntries(absent.map((name) => [name, unavailable(`puter.${name}`)])),
  auth: {
    isSignedIn: () => true,
    signIn: async () => ({ success: true }),
    signOut: (): void => undefined,
    getUser: async () => user,
  },
  print,
  env: 'web',
  /** Returns a name that no file has yet, such as "calm-otter-4821". */
  randName: (separator = '-') =>
    ['calm', 'otter', String(Math.floor(1_000 + Math.random() * 9_000))].join(separator),
})

countAsLoaded(/\/\/js\.puter\.com\//)
