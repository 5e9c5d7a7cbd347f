import type { AppContext } from '../../../context.ts'
import { ApiError } from '../../../errors.ts'
import { type ServiceModel, demoBuilder, findServiceModel } from '../../models/model-call.ts'

/** The model that builds here: games may have one of their own. Refuses no_builder. */
export function theBuilder(ctx: AppContext, kind: 'app' | 'game'): ServiceModel {
  const { builderModel, gameBuilderModel } = ctx.config
  const wanted = (kind === 'game' && gameBuilderModel) || builderModel || demoBuilder
  const by = findServiceModel(ctx, wanted, 'chat')
  if (!by) throw new ApiError('no_builder', {})
  return by
}
