import type { ModelResponse, PriceResponse } from '../../gateway/catalog/schemas.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { keysOf } from '../components.ts'
import { formatUsd } from '../format.ts'

const million = 1e6

/** Formats a price per token as USD per million tokens. */
const perMillion = (amount: string): string => formatUsd(Number(amount) * million)

const tokenParts = {
  prompt: 'Input',
  completion: 'Output',
  cache_read: 'Cached input',
  cache_write: 'Cache write',
  reasoning: 'Reasoning',
  audio: 'Audio input',
  audio_cache_read: 'Cached audio input',
  audio_completion: 'Audio output',
} as const

const unitParts = {
  per_image: ['Image', 'per image'],
  per_second: ['Second', 'per second'],
  per_minute: ['Minute', 'per minute'],
  per_character: ['Characters', '/ 1M characters'],
} as const

/** Formats a price per unit. Characters cost so little that their price is for a million. */
const perUnitText = (name: keyof typeof unitParts, amount: number): string =>
  formatUsd(name === 'per_character' ? amount * million : amount)

const withUnit = (amount: string, unit: string): Html =>
  html`${amount} <span class="unit">${unit}</span>`

const tokens = (amount: string | undefined): Part =>
  amount === undefined ? '–' : withUnit(perMillion(amount), '/ 1M tokens')

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
export function priceRows({ price }: ModelResponse): [name: string, amount: Part][] {
  const perToken = keysOf(tokenParts).flatMap((name): [string, Part][] => {
    const amount = price[name]
    return amount === undefined ? [] : [[tokenParts[name], tokens(amount)]]
  })
  const perUnit = keysOf(unitParts).flatMap((name): [string, Part][] => {
    const amount = price[name]
    const [label, unit] = unitParts[name]
    return amount === undefined ? [] : [[label, withUnit(perUnitText(name, amount), unit)]]
  })
  const search = price.per_search
  const tiers = (price.tiers ?? []).map(({ above, prompt, completion }): [string, Part] => [
    `Prompts above ${above.toLocaleString('en')} tokens`,
    html`${perMillion(prompt)} in, ${perMillion(completion)} out
      <span class="unit">/ 1M tokens</span>`,
  ])
  return [
    ...perToken,
    ...perUnit,
    ...(search === undefined
      ? []
      : [['Web search', withUnit(formatUsd(search), 'per search')] satisfies [string, Part]]),
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
