import type { ModelResponse } from '../../gateway/catalog/schemas.ts'
import { html, type Part } from '../../kernel/html.ts'
import { t, type Text } from '../../kernel/words/message.ts'
import { formatNumber } from '../format.ts'
import { wireWord } from '../wire-words.ts'
import { modeNames } from './mode-names.ts'
import { modeOf } from './modes.ts'
import { priceRows } from './prices.ts'

const tokens = (count: number): Part =>
  count > 0 ? html`${formatNumber(count)} <span class="unit">tokens</span>` : '–'

/** Returns the facts of a model, which its page and the comparison show. */
export function factsOf(model: ModelResponse): [name: Text, value: Part][] {
  const { inputs, outputs, supportsTools, context_length, max_output } = model
  const isChat = model.type === 'chat'
  const facts: [Text, Part][] = [
    [t('Type'), modeNames[modeOf(model)]],
    [t('Context'), context_length > 0 && tokens(context_length)],
    [t('Max output'), isChat && tokens(max_output)],
    [t('Tools and web search'), isChat && (supportsTools ? t('Yes') : t('No'))],
    [t('Inputs'), inputs.map(wireWord).join(', ')],
    [t('Outputs'), outputs.map(wireWord).join(', ')],
    ...priceRows(model),
  ]
  return facts.filter(([, value]) => value !== false)
}
