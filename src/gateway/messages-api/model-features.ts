import type { Json } from '../../kernel/schema.ts'
import type { Reasoning } from '../conversation/chat-request.ts'
import { effortOf, shareOfEffort } from '../conversation/effort.ts'

/** The fields that a model accepts. Anthropic rejects a request with others. */
export interface ModelFeatures {
  /** Output tokens at most. Those of a model that is not known are only a base for budgets. */
  outputMax: number
  isKnown: boolean
  /** True for models of Anthropic; others have their API. */
  isClaude: boolean
  /** True if it writes JSON of a schema, and calls strict tools. */
  hasFormat: boolean
  /** True if it takes an effort and decides how much it thinks; else it takes a budget. */
  isAdaptive: boolean
  /** True for temperature, top_p and top_k. */
  hasSampling: boolean
  /** True for the effort `xhigh`. */
  hasXhigh: boolean
  canStopThinking: boolean
  /** True if a request may force a tool call. */
  canForceTools: boolean
  /** True if it can think between tool calls only. */
  hasBetweenTools: boolean
}

const earliest: ModelFeatures = {
  outputMax: 4_096,
  isKnown: true,
  isClaude: true,
  hasFormat: false,
  isAdaptive: false,
  hasSampling: true,
  hasXhigh: false,
  canStopThinking: true,
  canForceTools: true,
  hasBetweenTools: false,
}
const adaptive = { ...earliest, outputMax: 128_000, hasFormat: true, isAdaptive: true }
const newest = { ...adaptive, hasSampling: false, hasXhigh: true }
const thinking = { ...newest, canStopThinking: false }

/** Features by name, as the AI SDK (@ai-sdk/anthropic 4) knows them. The first match holds. */
const models: [name: RegExp, features: ModelFeatures][] = [
  [/claude-sonnet-5-5/, { ...thinking, canForceTools: false, hasBetweenTools: true }],
  [/claude-(opus-5-5|fable-5-[12])/, { ...thinking, canForceTools: false }],
  [/claude-fable-5/, thinking],
  [/claude-(haiku-5-5|opus-5|opus-4-[78]|sonnet-5)/, newest],
  [/claude-(sonnet|opus)-4-6/, adaptive],
  [/claude-(sonnet|opus|haiku)-4-5/, { ...earliest, outputMax: 64_000, hasFormat: true }],
  [/claude-opus-4-1/, { ...earliest, outputMax: 32_000, hasFormat: true }],
  [/claude-sonnet-4[-@]/, { ...earliest, outputMax: 64_000 }],
  [/claude-opus-4[-@]/, { ...earliest, outputMax: 32_000 }],
  [/claude-3-haiku/, earliest],
  [/claude-(instant(-|$)|v?2(?=$|[-.:])|3(?=$|[-.]))/, { ...earliest, isKnown: false }],
  [/claude-/, { ...newest, isKnown: false }],
]

/**
 * Returns the features of a model: of an unknown Claude those of the newest, of any other model
 * those of the earliest.
 */
export function featuresOf(model: string): ModelFeatures {
  const [, features] = models.find(([name]) => name.test(model)) ?? []
  return features ?? { ...earliest, isKnown: false, isClaude: false }
}

/** Anthropic's minimum of thinking tokens, and their share of the output that leaves a response. */
const budgetMin = 1_024
const budgetShare = 0.8

/** Returns a budget within an output limit; undefined where that is too small for thinking. */
export function budgetWithin(budget: number, outputMax: number): number | undefined {
  const within = Math.min(Math.max(budget, budgetMin), Math.floor(outputMax * budgetShare))
  return within >= budgetMin ? within : undefined
}

/** The fields of a request for its thinking. */
interface ThinkingFields {
  thinking?: Json
  effort?: string
}

/** Returns the fields for a reasoning: an effort where the model takes one, else a budget. */
export function toThinking(
  reasoning: Reasoning,
  model: ModelFeatures,
  outputMax: number,
): ThinkingFields {
  const { effort, budget, summary } = reasoning
  if (effort === 'none' || (effort === undefined && budget === 0)) return leastThinking(model)
  const word = effortOf(reasoning) ?? ''
  const share = shareOfEffort(word)
  if (model.isAdaptive && (share !== undefined || summary !== undefined)) {
    const thinking = { type: 'adaptive', display: 'summarized' }
    return { thinking, ...(share !== undefined && { effort: effortAt(word, model) }) }
  }
  if (share === undefined) return {}
  const own = budget ?? Math.round(model.outputMax * share)
  const budget_tokens = budgetWithin(own, outputMax)
  return budget_tokens === undefined ? {} : { thinking: { type: 'enabled', budget_tokens } }
}

function leastThinking({ hasBetweenTools, canStopThinking }: ModelFeatures): ThinkingFields {
  if (hasBetweenTools) return { thinking: { type: 'between_tools' } }
  return canStopThinking ? { thinking: { type: 'disabled' } } : { effort: 'low' }
}

/** Returns the nearest effort that a model takes. */
function effortAt(word: string, { hasXhigh }: ModelFeatures): string {
  if (word === 'minimal') return 'low'
  return word === 'xhigh' && !hasXhigh ? 'high' : word
}
