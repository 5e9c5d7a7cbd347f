import { field, text } from '../frame/messages.ts'
import { ask, create } from './ask.ts'
import { CallError } from './protocol.ts'
import type { Call } from './receiver.ts'
import { callServer } from './server.ts'

const caps = [20, 100, 500, 2_000]
const capDefault = 100

let state: 'unknown' | 'granted' | 'denied' = 'unknown'
let asking: Promise<void> | undefined

/**
 * Resolves when the player has agreed that the app calls models, up to a cap of the day. The first
 * call asks, and all others wait for the answer. `again`: the server no longer knows the consent.
 * Throws `not_granted` after “Not now”, until the page is opened again.
 */
export async function allowModels(call: Call, again = false): Promise<void> {
  if (again && state === 'granted') state = 'unknown'
  if (state === 'unknown') {
    asking ??= askPlayer(call.app).finally(() => void (asking = undefined))
    await Promise.race([asking, ended(call.signal)])
  }
  if (state !== 'denied') return
  throw new CallError('not_granted', 'The player has not agreed that this app uses models.')
}

/** Rejects when a call ends. The question stays. */
const ended = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const end = (): void => reject(new CallError('cancelled', 'The call was canceled.'))
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })

/** The question outlives the call that raised it. */
const forever = new AbortController().signal

async function askPlayer(app: string): Promise<void> {
  const server = { app, signal: forever }
  const about: unknown = await (await callServer(server, 'GET', '/ai')).json()
  const known = text(about, 'state', 20)
  if (known === 'no_model') {
    throw new CallError('unavailable', 'This server has no model for apps.')
  }
  const isElsewhere = known === 'sign_in' && document.documentElement.dataset['at'] === undefined
  if (isElsewhere) {
    throw new CallError('not_signed_in', 'Nobody could pay for this. Connect with an agent key.')
  }
  if (known !== 'ready') {
    const cap = capField()
    const remember = create('input', [], { type: 'checkbox' })
    const title = document.querySelector('h1')?.textContent ?? ''
    const { maker = '' } = document.documentElement.dataset
    const isAgreed = await ask({
      title: `“${title}” by ${maker} uses AI.`,
      text: `It sends what you enter to models. ${priceOf(about)}`,
      fields: [
        create('label', ['At most', cap, 'today']),
        create('label', [remember, 'Remember for this app']),
      ],
      yes: 'Allow',
      no: 'Not now',
      link: known === 'sign_in' ? signInLink(about) : undefined,
    })
    if (!isAgreed) {
      state = 'denied'
      return
    }
    const [uses, margin] = [field(about, 'uses'), field(about, 'margin')]
    const terms = { uses, margin, dailyCap: Number(cap.value), remember: remember.checked }
    await callServer(server, 'PUT', '/consent', terms)
  }
  state = 'granted'
}

const capField = (): HTMLSelectElement =>
  create(
    'select',
    caps.map((value) => {
      const defaultSelected = value === capDefault
      return create('option', [credits(value)], { value: String(value), defaultSelected })
    }),
  )

/** Formats credits: "0.31 credits". */
function credits(value: unknown): string {
  const amount = Number(value)
  const shown = amount < 10 ? Number(amount.toPrecision(2)) : Math.round(amount)
  return `${shown.toLocaleString('en')} ${shown === 1 ? 'credit' : 'credits'}`
}

function priceOf(about: unknown): string {
  const [turn, available] = [field(about, 'turn'), field(about, 'available')]
  const how = field(about, 'isMeasured') === true ? ', measured' : ''
  const margin = Number(field(about, 'margin'))
  const { maker = '' } = document.documentElement.dataset
  const parts = [
    turn === null ? 'Your wallet pays.' : `About ${credits(turn)} a turn${how}, from your wallet.`,
    ...(margin > 0 ? [`That includes a margin of ${margin} % for ${maker}.`] : []),
    ...(available === null ? [] : [`You have ${credits(available)}.`]),
    ...(field(about, 'isDemo') === true ? ['This server has demo models only.'] : []),
  ]
  return parts.join(' ')
}

const signInLink = (about: unknown): HTMLAnchorElement =>
  create('a', ['Sign in'], { href: text(about, 'signIn', 200), target: '_top' })
