import { type Html, html } from '../kernel/html.ts'
import { type NanoUsd, toCredits, toUsd, zero } from '../kernel/money.ts'
import { day, hour, iso, minute } from '../kernel/time.ts'
import { t } from '../kernel/words/message.ts'
import { currentLanguage, leftToRight, perLanguage } from '../kernel/words/words.ts'

/** Truncates: a balance is never shown higher than it is. */
const numbers = perLanguage(
  (locale) => new Intl.NumberFormat(locale, { maximumFractionDigits: 2, roundingMode: 'trunc' }),
)
const smallNumbers = perLanguage(
  (locale) =>
    new Intl.NumberFormat(locale, {
      maximumFractionDigits: 4,
      maximumSignificantDigits: 2,
      roundingPriority: 'lessPrecision',
    }),
)
const compactNumbers = perLanguage(
  (locale) => new Intl.NumberFormat(locale, { notation: 'compact', useGrouping: 'always' }),
)
const wholeNumbers = perLanguage((locale) => new Intl.NumberFormat(locale))
const oneDecimal = perLanguage(
  (locale) => new Intl.NumberFormat(locale, { maximumFractionDigits: 1 }),
)
const exactNumbers = perLanguage(
  (locale) => new Intl.NumberFormat(locale, { maximumFractionDigits: 6 }),
)
const fixedDecimals = perLanguage(
  (locale) => (decimals: number) =>
    new Intl.NumberFormat(locale, {
      minimumFractionDigits: decimals,
      maximumFractionDigits: decimals,
    }),
)
const percents = perLanguage((locale) => new Intl.NumberFormat(locale, { style: 'percent' }))
const tenths = perLanguage(
  (locale) =>
    new Intl.NumberFormat(locale, {
      minimumFractionDigits: 1,
      maximumFractionDigits: 1,
      useGrouping: false,
    }),
)
const dollars = perLanguage((locale) => {
  const currency = { style: 'currency', currency: 'USD' } as const
  return new Intl.NumberFormat(locale, { ...currency, maximumFractionDigits: 9 })
})
const roundedDollars = perLanguage((locale) => {
  const currency = { style: 'currency', currency: 'USD' } as const
  return new Intl.NumberFormat(locale, { ...currency, maximumFractionDigits: 4 })
})
const cents = perLanguage(
  (locale) => new Intl.NumberFormat(locale, { style: 'currency', currency: 'USD' }),
)
/** Arabic names the month only in long dates. */
const dateOptions = (locale: string) =>
  ({ dateStyle: locale.startsWith('ar') ? 'long' : 'medium', timeZone: 'UTC' }) as const
/** English dates begin with the day, without a comma. */
const dateLocale = (locale: string): string => (locale === 'en' ? 'en-GB' : locale)
const dates = perLanguage(
  (locale) => new Intl.DateTimeFormat(dateLocale(locale), dateOptions(locale)),
)
const dateTimes = perLanguage(
  (locale) =>
    new Intl.DateTimeFormat(dateLocale(locale), { ...dateOptions(locale), timeStyle: 'short' }),
)

/** The smallest amount, in credits or USD, of four decimals. */
const leastShown = 0.0001

/**
 * Credits with at most two decimals. Amounts below 1 keep two significant digits, with at most four
 * decimals.
 */
export function shortCredits(credits: number): string {
  if (credits > 0 && credits < leastShown)
    return leftToRight(`<${smallNumbers().format(leastShown)}`)
  return (Math.abs(credits) < 1 ? smallNumbers : numbers)().format(credits)
}

/** An amount of credits, rounded, with the exact amount in credits and USD on hover. */
export function renderCredits(amount: bigint, signDisplay: 'auto' | 'exceptZero' = 'auto'): Html {
  const sign = signDisplay === 'exceptZero' && amount > 0n ? '+' : ''
  const [exact, shown] = [exactCredits(amount), sign + shortCredits(toCredits(amount))]
  return html`<span class="money" title="${exact}">${shown}</span>`
}

/** Returns the decimals of an exact amount of credits: at most six. */
export const exactDecimals = (amount: bigint): number =>
  (toCredits(amount).toFixed(6).split('.')[1] ?? '').replace(/0+$/, '').length

/**
 * All digits of an amount of credits. In a column of tabular digits, the space of further zeros, up
 * to `decimals`, aligns it.
 */
export function renderExactCredits(
  amount: bigint,
  decimals: number,
  signDisplay: 'auto' | 'exceptZero' = 'auto',
): Html {
  const credits = toCredits(amount)
  const sign = signDisplay === 'exceptZero' && amount > 0n ? '+' : ''
  const shown = exactNumbers().format(credits)
  const zeros = fixedDecimals()(decimals).format(credits).slice(shown.length)
  return html`<span class="money" title="${exactCredits(amount)}"
    >${sign + shown}${zeros !== '' && html`<span class="zeros" data-zeros="${zeros}"></span>`}</span
  >`
}

/** All digits of an amount in credits and in USD, for hovering. */
export const exactCredits = (amount: bigint): string =>
  t('{credits} credits, {usd}', {
    credits: exactNumbers().format(toCredits(amount)),
    usd: formatUsd(toUsd(amount)),
  })

/** `renderCredits` of an amount on the wire, in credits with at most six decimals. */
export const renderWireCredits = (credits: number): Html =>
  renderCredits(BigInt(Math.round(credits * 1_000_000)))

/** The mark of Arabic amounts would put the sign on the other side of the currency. */
const isolateUsd = (amount: string): string => leftToRight(amount.replace('\u200f', ''))

/** USD, rounded to cents, for amounts whose exact value is elsewhere. */
export const formatDollars = (usd: number): string => isolateUsd(cents().format(usd))

/** USD with two to four decimals, and the exact amount on hover. */
export function renderUsd(amount: bigint): Html {
  const usd = toUsd(amount)
  const shown =
    usd > 0 && usd < leastShown
      ? `<${roundedDollars().format(leastShown)}`
      : roundedDollars().format(usd)
  return html`<span class="money" title="${formatUsd(usd)}">${isolateUsd(shown)}</span>`
}

/** USD with two to nine decimals. */
export const formatUsd = (usd: number): string => isolateUsd(dollars().format(usd))

/** Returns a number and its noun. Translations choose the form of the noun by `count`. */
function countNoun(count: number, shown: string, noun: string, several = `${noun}s`): string {
  if (currentLanguage() === 'en') return `${shown} ${count === 1 ? noun : several}`
  return t(`{shown} ${several}`, { count, shown })
}

/** "1,234 tokens". */
export const formatExactCount = (count: number, noun: string): string =>
  countNoun(count, formatNumber(count), noun)

/** 1,234. */
export const formatNumber = (value: number): string => wholeNumbers().format(value)

/** 50%. */
export const formatPercent = (share: number): string => percents().format(share)

/** 4.5, 12.0. */
export const formatTenths = (value: number): string => tenths().format(value)

/** "1 credit", "99,999 credits". */
export const formatAmount = (value: number, noun: string): string =>
  countNoun(value, shortCredits(value), noun)

/** 1.2K. The formatter is skipped below 1,000, where it changes nothing and costs time. */
export const formatCompact = (count: number): string =>
  count < 1_000 ? String(count) : compactNumbers().format(count)

/** "1 open", "1.2K opens". `several` is the plural of an irregular noun. */
export const formatCount = (count: number, noun: string, several?: string): string =>
  countNoun(count, formatCompact(count), noun, several)

const kb = 1_024

/** 12 KB, 1.4 MB, 3 GB. */
export function formatBytes(bytes: number): string {
  const rounded = (size: number): string => oneDecimal().format(size)
  if (bytes < kb ** 2) return t('{size} KB', { size: Math.ceil(bytes / kb) })
  if (bytes < kb ** 3) return t('{size} MB', { size: rounded(bytes / kb ** 2) })
  return t('{size} GB', { size: rounded(bytes / kb ** 3) })
}

/** 12 ms, 1.4 s. */
export const formatDuration = (ms: number): string =>
  leftToRight(ms < 1_000 ? `${ms} ms` : `${formatTenths(ms / 1_000)} s`)

/** An ISO 8601 time, or milliseconds since the epoch. */
type Time = string | number

const millisecondsOf = (time: Time): number => (typeof time === 'string' ? Date.parse(time) : time)

function timeElement(time: Time, text: string, exact?: string): Html {
  const at = typeof time === 'number' ? iso(time) : time
  return exact === undefined
    ? html`<time datetime="${at}">${text}</time>`
    : html`<time datetime="${at}" title="${exact}">${text}</time>`
}

/** 4 May 2026. */
export const renderDate = (time: Time): Html =>
  timeElement(time, dates().format(millisecondsOf(time)))

const formatDateTime = (time: Time): string => `${dateTimes().format(millisecondsOf(time))} UTC`

/** 4 May 2026, 12:00 UTC. */
export const renderDateTime = (time: Time): Html => timeElement(time, formatDateTime(time))

const ages = perLanguage((locale) => new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }))
const ageUnits = [
  ['day', day],
  ['hour', hour],
  ['minute', minute],
] as const
const agesShownMs = 7 * day

/** now, 5 minutes ago, yesterday; a date after a week. The exact time is its title. */
export function renderAge(time: Time, now: number): Html {
  const [at, exact] = [millisecondsOf(time), formatDateTime(time)]
  const age = Math.max(0, now - at)
  if (age >= agesShownMs) return timeElement(time, dates().format(at), exact)
  const found = ageUnits.find(([, ms]) => age >= ms)
  const text = found ? ages().format(-Math.floor(age / found[1]), found[0]) : t('now')
  return timeElement(time, text, exact)
}

/** in 42 minutes, in 7 days. The exact time is its title. */
export function renderDeadline(time: Time, now: number): Html {
  const left = Math.max(0, millisecondsOf(time) - now)
  const [unit, ms] = ageUnits.find((one) => left >= one[1]) ?? ['minute', minute]
  return timeElement(time, ages().format(Math.ceil(left / ms), unit), formatDateTime(time))
}

/** Spending against a cap, with a bar. */
export function spendingBar(spent: NanoUsd, cap: NanoUsd | null): Html {
  if (cap === null) return html`${renderCredits(spent)} <span class="unit">credits, no cap</span>`
  const share = cap === zero ? 100 : Math.min(100, (toCredits(spent) / toCredits(cap)) * 100)
  return html`${renderCredits(spent)}
    <span class="unit">of ${renderCredits(cap)} credits</span>
    <svg class="share" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
      <rect class="track" width="100" height="6" />
      <rect class="${share >= 90 && 'full'}" width="${share.toFixed(2)}" height="6" />
    </svg>`
}
