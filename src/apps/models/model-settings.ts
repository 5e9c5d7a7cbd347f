import type { ModelType } from '../../gateway/models/price.ts'
import type { SettingName } from '../../kernel/config/settings.ts'
import type { AppContext } from '../../kernel/context.ts'
import { demoBuilder, findServiceModel } from './model-call.ts'

/** Returns startup warnings about configured models, Ollama and browser that are unavailable. */
export function modelSettingWarnings(ctx: AppContext): string[] {
  const { config, upstreams } = ctx
  const chosen: [SettingName, string, ModelType][] = [
    ['BUILDER_MODEL', config.builderModel, 'chat'],
    ['GAME_BUILDER_MODEL', config.gameBuilderModel, 'chat'],
    ['PAINTER_MODEL', config.painterModel, 'image'],
    ['SPEAKER_MODEL', config.speakerModel, 'audio'],
    ['SOUND_MODEL', config.soundModel, 'audio'],
  ]
  const warnings = chosen.flatMap(([name, id, type]) =>
    id === '' || findServiceModel(ctx, id, type)
      ? []
      : [
          `${name} is ${id}, but no ${type} model with that id has a price. See: berth models list.`,
        ],
  )
  const isLeftOut = config.agentsOn && config.builderModel === ''
  if (isLeftOut && !findServiceModel(ctx, demoBuilder, 'chat')) {
    warnings.push('BUILDER_MODEL is not set. Builds from prompts are off.')
  }
  const ollama = config.rows.find(({ name }) => name === 'OLLAMA_HOST')
  const isConfigured = config.ollamaHost !== '' && ollama?.source !== 'default'
  if (isConfigured && !upstreams.names.includes('ollama')) {
    warnings.push(
      `No Ollama server responds at ${config.ollamaHost}. Start it, then use it at /console/providers.`,
    )
  }
  const { builderBrowser } = config
  if (!['auto', 'off'].includes(builderBrowser) && !Bun.which(builderBrowser)) {
    warnings.push(
      `BUILDER_BROWSER is ${builderBrowser}, but that program does not exist. Builds are not previewed.`,
    )
  }
  return warnings
}
