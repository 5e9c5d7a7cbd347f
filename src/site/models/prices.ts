import type { ModelResponse, PriceResponse } from '../../gateway/catalog/schemas.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { msg, t, type Text } from '../../kernel/words/message.ts'
import { keysOf } from '../components.ts'
import { formatNumber, formatUsd } from '../format.ts'

const million = 1e6

/** Formats a price per token as USD per million tokens. */
const perMillion = (amount: string): string => formatUsd(Number(amount) * million)

const tokenParts = {
  prompt: msg('Input'),
  completion: msg('Output'),
  cache_read: msg('Cached input'),
  cache_write: msg('Cache write'),
  reasoning: msg('Reasoning'),
  audio: msg('Audio input'),
  audio_cache_read: msg('Cached audio input'),
  audio_completion: msg('Audio output'),
} as const

const unitParts = {
  per_image: [msg('Image'), msg('per image')],
  per_second: [msg('Second'), msg('per second')],
  per_minute: [msg('Minute'), msg('per minute')],
  per_character: [msg('Characters'), msg('/ 1M characters')],
} as const

/** Formats a price per unit. Characters cost so little that their price is for a million. */
const perUnitText = (name: keyof typeof unitParts, amount: number): string =>
  formatUsd(name === 'per_character' ? amount * million : amount)

const withUnit = (amount: string, unit: Text): Html =>
  html`${amount} <span class="unit">${unit}</span>`

const tokens = (amount: string | undefined): Part =>
  amount === undefined ? '–' : withUnit(perMillion(amount), t('/ 1M tokens'))

/** Returns the price of the input and of the output, or of the unit that a model charges. */
export function costs(price: PriceResponse): [into: Part, out: Part] {
  const [unit] = keysOf(unitParts).flatMap((name) => {
    const amount = price[name]
    return amount === undefined ? [] : [withUnit(perUnitText(name, amount), unitParts[name][1])]
  })
  return [tokens(price.prompt), unit ?? tokens(price.completion)]
}

/** Formats a price in a few characters: "$0.10 / $0.40", "$0.04 per image". */
export function shortPrice(price: PriceResponse): string {
  const [unit] = keysOf(unitParts).filter((name) => price[name] !== undefined)
  if (unit) return `${perUnitText(unit, price[unit] ?? 0)} ${unitParts[unit][1]}`
  const parts = [price.prompt, price.completion].filter((one) => one !== undefined)
  return parts.map(perMillion).join(' / ')
}

/** Returns all parts of a price with their amounts, and those of long prompts. */
export function priceRows({ price }: ModelResponse): [name: Text, amount: Part][] {
  const perToken = keysOf(tokenParts).flatMap((name): [Text, Part][] => {
    const amount = price[name]
    return amount === undefined ? [] : [[tokenParts[name], tokens(amount)]]
  })
  const perUnit = keysOf(unitParts).flatMap((name): [Text, Part][] => {
    const amount = price[name]
    const [label, unit] = unitParts[name]
    return amount === undefined ? [] : [[label, withUnit(perUnitText(name, amount), unit)]]
  })
  const search = price.per_search
  const tiers = (price.tiers ?? []).map(({ above, prompt, completion }): [string, Part] => [
    t('Prompts above {above} tokens', { above: formatNumber(above) }),
    html`${perMillion(prompt)} in, ${perMillion(completion)} out
      <span class="unit">/ 1M tokens</span>`,
  ])
  return [
    ...perToken,
    ...perUnit,
    ...(search === undefined
      ? []
      : [[t('Web search'), withUnit(formatUsd(search), t('per search'))] satisfies [string, Part]]),
    ...tiers,
  ]
}

/** The price to sort by, in USD: per token, or else per unit. Models without one come last. */
export const inputPrice = ({ price }: ModelResponse): number =>
  price.prompt === undefined ? unitPrice(price) : Number(price.prompt)

export const outputPrice = ({ price }: ModelResponse): number =>
  price.completion === undefined ? unitPrice(price) : Number(price.completion)

const unitPrice = (price: PriceResponse): number =>
  keysOf(unitParts)
    .map((name) => price[name])
    .find((amount) => amount !== undefined) ?? Infinity
