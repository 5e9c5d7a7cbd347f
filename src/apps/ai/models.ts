import type { Model } from '../../gateway/models/catalog.ts'
import type { ModelType } from '../../gateway/models/price.ts'
import type { Config } from '../../kernel/config/settings.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'

/** The kinds of work of `service.ai`, each with a model of its own. */
export type Work = 'chat' | 'image' | 'speech' | 'transcription'

const typeOf: Record<Work, ModelType> = {
  chat: 'chat',
  image: 'image',
  speech: 'audio',
  transcription: 'audio',
}

/** The operator's choice for each. */
const settings: Record<Work, (config: Config) => string> = {
  chat: ({ appModel: model }) => model,
  image: ({ appModelImage: model }) => model,
  speech: ({ appModelSpeech: model }) => model,
  transcription: ({ appModelTranscription: model }) => model,
}

/** Names of small and of large models of other hosts, and the tiers of `service.ai.chat`. */
const quick = /^quick$|haiku|flash|mini|nano|lite|small|instant/i
const complex = /^complex$|opus|\bpro\b|thinking|\bo[13]\b/i

/**
 * Returns the model that an app gets for a name: the one of the catalog, or else the one that the
 * operator chose for apps. A name of another host counts as a tier. Throws `no_model`.
 */
export function appModel(ctx: AppContext, work: Work, requested = ''): Model {
  const model = findAppModel(ctx, work, requested)
  if (!model) throw new ApiError('no_model', { model: requested })
  return model
}

/** Returns the model that `appModel` does; undefined where there is none. */
export function findAppModel(
  { catalog, config }: AppContext,
  work: Work,
  requested = '',
): Model | undefined {
  const named = catalog.find(requested)?.model
  if (named && serves(named, work)) return named
  const own =
    work !== 'chat'
      ? ''
      : quick.test(requested)
        ? config.appModelQuick
        : complex.test(requested)
          ? config.appModelComplex
          : ''
  const demo = catalog.isDemo ? `demo/${work}` : ''
  for (const id of [own, settings[work](config), demo]) {
    const model = id === '' ? undefined : catalog.find(id)?.model
    if (model && serves(model, work)) return model
  }
  return undefined
}

/** Speech and transcription models have one type. */
function serves({ type, outputs }: Model, work: Work): boolean {
  if (type !== typeOf[work]) return false
  return type !== 'audio' || outputs.includes('audio') === (work === 'speech')
}
