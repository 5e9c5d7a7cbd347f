import { html, type Part } from '../../core/html.ts'
import type { ModelResponse } from '../../gateway/catalog/schemas.ts'
import { modeNames, modeOf } from './modes.ts'
import { priceRows } from './prices.ts'

const tokens = (count: number): Part =>
  count > 0 ? html`${count.toLocaleString('en')} <span class="unit">tokens</span>` : '–'

/** Returns the facts of a model, which its page and the comparison show. */
export function factsOf(model: ModelResponse): [name: string, value: Part][] {
  const { inputs, outputs, supportsTools, context_length, max_output } = model
  const isText = model.context_length > 0
  return [
    ['Type', modeNames[modeOf(model)]],
    ...(isText ? [['Context', tokens(context_length)] satisfies [string, Part]] : []),
    ...(model.type === 'chat'
      ? [
          ['Max output', tokens(max_output)] satisfies [string, Part],
          ['Tools and web search', supportsTools ? 'Yes' : 'No'] satisfies [string, Part],
        ]
      : []),
    ['Inputs', inputs.join(', ')],
    ['Outputs', outputs.join(', ')],
    ...priceRows(model),
  ]
}
