import { lookUp } from '../../kernel/schema.ts'
import type { Reasoning } from './chat-request.ts'

/** The share of a model's largest output that an effort may think, as in the AI SDK. */
const shares: Record<string, number> = {
  minimal: 0.02,
  low: 0.1,
  medium: 0.3,
  high: 0.6,
  xhigh: 0.9,
  max: 0.95,
}

/** Returns the share of the output for an effort; undefined for `none` and unknown efforts. */
export const shareOfEffort = (effort: string | undefined): number | undefined =>
  lookUp(shares, effort)

/** Returns the reasoning effort for a budget of tokens. */
export function effortOfBudget(tokens: number): string {
  if (tokens < 4_096) return 'low'
  return tokens < 16_384 ? 'medium' : 'high'
}

/** Returns the effort of a reasoning, or that of its budget; undefined without both. */
export const effortOf = ({ effort, budget }: Reasoning = {}): string | undefined =>
  effort ?? (budget === undefined ? undefined : effortOfBudget(budget))
