import { field, text } from '../frame/messages.ts'
import { formatNumber, t } from '../words.ts'
import { ask, create, withElements } from './ask.ts'
import { CallError } from './protocol.ts'
import type { Call } from './receiver.ts'
import { callServer } from './server.ts'

const caps = [20, 100, 500, 2_000]
const capDefault = 100

let state: 'unknown' | 'granted' | 'denied' = 'unknown'
let asking: Promise<void> | undefined

let raising: Promise<void> | undefined
/** When the player last raised the cap. */
let raisedAt = -1
let isCapFinal = false

/**
 * Resolves when the player has agreed that the app calls models, up to a cap of the day. The first
 * call asks, and all others wait for the answer. `failed` is the code of a call without a payer:
 * the consent ended, or a sponsor has too little left. Throws `not_granted` after “Not now”, until
 * the page is opened again.
 */
export async function allowModels(call: Call, failed = ''): Promise<void> {
  if (failed !== '' && state === 'granted') state = 'unknown'
  if (state === 'unknown') {
    asking ??= askPlayer(call.app, failed).finally(() => void (asking = undefined))
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

/** Returns what a player has agreed to. A sponsor who did not pay leaves it to the player. */
function stateIn(about: unknown, failed: string): string {
  const known = text(about, 'state', 20)
  const isSponsored = known === 'ready' && field(about, 'dailyCap') === null
  if (failed === '' || !isSponsored) return known
  return failed === 'not_signed_in' ? 'sign_in' : 'ask'
}

async function askPlayer(app: string, failed: string): Promise<void> {
  const server = { app, signal: forever }
  const about: unknown = await (await callServer(server, 'GET', '/ai')).json()
  const known = stateIn(about, failed)
  if (known === 'no_model') {
    throw new CallError('unavailable', 'This server has no model for apps.')
  }
  const isElsewhere = known === 'sign_in' && document.documentElement.dataset['at'] === undefined
  if (isElsewhere) {
    throw new CallError('not_signed_in', 'Nobody could pay for this. Connect with an agent key.')
  }
  const link = known === 'sign_in' ? signInLink(about) : undefined
  const isAgreed = known === 'ready' || (await askTerms(server, about, { link }))
  state = isAgreed ? 'granted' : 'denied'
}

/**
 * Offers higher caps after a call that was sent at `sentAt` is above the cap of the day. Returns
 * whether the player has raised it since then. After “Not now” no call asks, until the page is
 * opened again.
 */
export async function raiseCap({ app, signal }: Call, sentAt: number): Promise<boolean> {
  if (raisedAt <= sentAt && !isCapFinal) {
    raising ??= askCap(app).finally(() => void (raising = undefined))
    await Promise.race([raising, ended(signal)])
  }
  return raisedAt > sentAt
}

async function askCap(app: string): Promise<void> {
  const server = { app, signal: forever }
  const about: unknown = await (await callServer(server, 'GET', '/ai')).json()
  const [cap, spent] = [field(about, 'dailyCap'), credits(field(about, 'spent'))]
  if (typeof cap !== 'number' || caps.every((value) => value <= cap)) return
  const reached = t(
    'Today it has spent {spent} of at most {cap}, which leaves too little for this call.',
    { spent, cap: credits(cap) },
  )
  if (await askTerms(server, about, { reached, above: cap })) raisedAt = performance.now()
  else isCapFinal = true
}

interface Terms {
  link?: HTMLAnchorElement | undefined
  /** A sentence about the cap until now. */
  reached?: string
  /** The cap until now. */
  above?: number
}

/** Shows the bar with the caps of a day, and stores what the player agrees to. */
async function askTerms(
  server: Pick<Call, 'app' | 'signal'>,
  about: unknown,
  { link, reached, above = 0 }: Terms,
): Promise<boolean> {
  const cap = capField(above)
  const remember = create('input', [], { type: 'checkbox' })
  const title = document.querySelector('h1')?.textContent ?? ''
  const { maker = '' } = document.documentElement.dataset
  const isAgreed = await ask({
    title: t('“{title}” by {maker} uses AI.', { title, maker }),
    text: [reached ?? t('It sends what you enter to models.'), ...pricesOf(about)].join(' '),
    fields: [
      create('label', withElements(t('At most <cap> today'), { '<cap>': cap })),
      create('label', [remember, t('Remember for this app')]),
    ],
    yes: t('Allow'),
    no: t('Not now'),
    link,
  })
  if (!isAgreed) return false
  const [uses, margin] = [field(about, 'uses'), field(about, 'margin')]
  const terms = { uses, margin, dailyCap: Number(cap.value), remember: remember.checked }
  await callServer(server, 'PUT', '/consent', terms)
  return true
}

const capField = (above: number): HTMLSelectElement =>
  create(
    'select',
    caps
      .filter((value) => value > above)
      .map((value) => {
        const defaultSelected = value === capDefault
        return create('option', [credits(value)], { value: String(value), defaultSelected })
      }),
  )

/** Formats credits: "0.31 credits". */
function credits(value: unknown): string {
  const amount = Number(value)
  const shown = amount < 10 ? Number(amount.toPrecision(2)) : Math.round(amount)
  return t(shown === 1 ? '{amount} credit' : '{amount} credits', { amount: formatNumber(shown) })
}

/** Returns sentences about what a turn costs, and who pays. */
function pricesOf(about: unknown): string[] {
  const [turn, available] = [field(about, 'turn'), field(about, 'available')]
  const isMeasured = field(about, 'isMeasured') === true
  const margin = Number(field(about, 'margin'))
  const { maker = '' } = document.documentElement.dataset
  return [
    turn === null
      ? t('Your wallet pays.')
      : t(
          isMeasured
            ? 'About {credits} a turn, measured, from your wallet.'
            : 'About {credits} a turn, from your wallet.',
          { credits: credits(turn) },
        ),
    ...(margin > 0
      ? [t('That includes a margin of {margin} % for {maker}.', { margin, maker })]
      : []),
    ...(available === null ? [] : [t('You have {credits}.', { credits: credits(available) })]),
    ...(field(about, 'isDemo') === true ? [t('This server has demo models only.')] : []),
  ]
}

const signInLink = (about: unknown): HTMLAnchorElement =>
  create('a', [t('Sign in')], { href: text(about, 'signIn', 200), target: '_top' })
