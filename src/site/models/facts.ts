import type { ModelResponse } from '../../gateway/catalog/schemas.ts'
import { html, type Part } from '../../kernel/html.ts'
import { modeNames, modeOf } from './modes.ts'
import { priceRows } from './prices.ts'

const tokens = (count: number): Part =>
  count > 0 ? html`${count.toLocaleString('en')} <span class="unit">tokens</span>` : '–'

/** Returns the facts of a model, which its page and the comparison show. */
export function factsOf(model: ModelResponse): [name: string, value: Part][] {
  const { inputs, outputs, supportsTools, context_length, max_output } = model
  const isChat = model.type === 'chat'
  const facts: [string, Part][] = [
    ['Type', modeNames[modeOf(model)]],
    ['Context', context_length > 0 && tokens(context_length)],
    ['Max output', isChat && tokens(max_output)],
    ['Tools and web search', isChat && (supportsTools ? 'Yes' : 'No')],
    ['Inputs', inputs.join(', ')],
    ['Outputs', outputs.join(', ')],
    ...priceRows(model),
  ]
  return facts.filter(([, value]) => value !== false)
}
