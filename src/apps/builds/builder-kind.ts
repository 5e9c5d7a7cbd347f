import { analyzePrompt } from '../../gateway/providers/demo/builder/prompt-analysis.ts'
import type { AppContext } from '../../kernel/context.ts'
import { demoBuilder } from '../model-call.ts'
import { findBuilderModel } from './budget.ts'

/** Apps are built by a model, by the templates of the demo builder, or not at all. */
export type BuilderKind = 'model' | 'templates' | 'none'

/** Returns what builds apps from descriptions on this server. */
export function builderKind(ctx: AppContext, kind: 'app' | 'game' = 'app'): BuilderKind {
  const by = findBuilderModel(ctx, kind)
  if (by === undefined) return 'none'
  return by.model.id === demoBuilder ? 'templates' : 'model'
}

/**
 * Returns the reason why no template makes a description, so that a page can say it before an
 * account or a job exists. Undefined where one does, and for a model, which decides by itself.
 */
export function whyDeclined(
  ctx: AppContext,
  kind: 'app' | 'game',
  prompt: string,
): string | undefined {
  if (builderKind(ctx, kind) !== 'templates') return undefined
  const spec = analyzePrompt(prompt)
  return 'declined' in spec ? `This server has no model: ${spec.declined}` : undefined
}
