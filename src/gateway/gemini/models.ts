import type { Json } from '../../kernel/schema.ts'
import type { Reasoning } from '../conversation/chat-request.ts'
import type { Target } from '../conversation/codec.ts'
import { shareOfEffort } from '../conversation/effort.ts'

/**
 * Differences between Google's models, by name. Names are open-ended, so an unknown Gemini counts
 * as one of the newest generation. Sources: https://ai.google.dev/gemini-api/docs/thinking and the
 * tables of the package @ai-sdk/google.
 */

/** The names of the first two generations. */
const older = /gemini-(?:[12](?:[.-]|$)|pro$|pro-vision$|robotics-er-1\.5)/

/** Returns whether a model is a Gemini 3 or later: it signs calls, and takes media in results. */
export const isGemini3 = (model: string): boolean => /gemini-/.test(model) && !older.test(model)

/** Returns whether a model thinks. Others reject a request for their thoughts. */
const canThink = (model: string): boolean => isGemini3(model) || /gemini-2\.5/.test(model)

/** Returns whether a model has no system instruction. */
export const isGemma = (model: string): boolean => /(?:^|\/)gemma-/i.test(model)

/** Efforts in their order. */
const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

const largestOutput = 65_536
const shareOf = (effort: string): number => shareOfEffort(effort) ?? 0
/** The share of the output limit that a budget may have. */
const shareMax = 0.8

/** Returns Google's settings of the reasoning, whose tokens are part of the output. */
export function thinkingConfigOf(reasoning: Reasoning | undefined, target: Target): Json {
  const { effort, budget, summary } = reasoning ?? {}
  const { model, outputMax } = target
  const isKnown = effort !== undefined && efforts.includes(effort)
  if (!isKnown && budget === undefined) {
    const isShown = summary !== undefined && canThink(model)
    return isShown ? { thinkingConfig: { includeThoughts: true } } : {}
  }
  const name = isKnown ? effort : undefined
  const isOfLevels = isGemini3(model) && !/gemini-3-pro-image/.test(model)
  const settings = isOfLevels
    ? { thinkingLevel: levelOf(model, name ?? effortOf(budget)) }
    : { thinkingBudget: limitBudget(model, outputMax, budget ?? budgetOf(name)) }
  const isOff = settings.thinkingBudget === 0 || name === 'none'
  return { thinkingConfig: { ...settings, ...(!isOff && { includeThoughts: true }) } }
}

/** Returns the lowest effort whose share covers a budget. */
const effortOf = (budget = 0): string =>
  efforts.find((effort) => budget <= shareOf(effort) * largestOutput) ?? 'max'

/** Returns the nearest level: Gemini 3 cannot stop thinking, and its highest level is high. */
function levelOf(model: string, effort: string): string {
  const levels = lacksMinimal(model)
    ? ['low', 'medium', 'high']
    : ['minimal', 'low', 'medium', 'high']
  const [lowest = 'low'] = levels
  if (levels.includes(effort)) return effort
  return efforts.indexOf(effort) < efforts.indexOf(lowest) ? lowest : 'high'
}

/** Returns whether `low` is the lowest level of a model: of Pro, and of Flash since 3.7. */
function lacksMinimal(model: string): boolean {
  const [, major = '', minor = '0', kind = ''] =
    /gemini-(\d+)(?:\.(\d+))?-(pro|flash(?!-lite))(?:-|$)/.exec(model) ?? []
  if (/gemini-flash-latest$/.test(model) || kind === 'pro') return true
  return kind === 'flash' && (Number(major) > 3 || (major === '3' && Number(minor) >= 7))
}

const budgetOf = (effort = 'none'): number => Math.round(shareOf(effort) * largestOutput)

/** The smallest budget of Flash-Lite. */
const liteMin = 512

/** Returns a budget that the model takes and that leaves a part of the output for the text. */
export function limitBudget(model: string, outputMax: number, requested: number): number {
  const isPro = /2\.5-pro/.test(model)
  const [min, max] = [isPro ? 128 : 0, isPro || /gemini-3-pro-image/.test(model) ? 32_768 : 24_576]
  const budget = Math.max(min, Math.min(requested, max, Math.floor(outputMax * shareMax)))
  return /2\.5-flash-lite/.test(model) && budget < liteMin ? 0 : budget
}
