import type { AppContext } from '../../../context.ts'
import { ApiError } from '../../../errors.ts'
import { demoBuilder, findServiceModel, type ServiceModel } from '../../models/model-call.ts'

/** Returns the model that builds apps; games may use another one. Throws `no_builder`. */
export function theBuilder(ctx: AppContext, kind: 'app' | 'game'): ServiceModel {
  const { builderModel, gameBuilderModel } = ctx.config
  const wanted = (kind === 'game' && gameBuilderModel) || builderModel || demoBuilder
  const by = findServiceModel(ctx, wanted, 'chat')
  if (!by) throw new ApiError('no_builder', {})
  return by
}
