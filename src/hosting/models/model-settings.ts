import type { SettingName } from '../../config/settings.ts'
import type { AppContext } from '../../context.ts'
import type { ModelType } from '../../models/price.ts'
import { demoBuilder, findServiceModel } from './model-call.ts'

/**
 * Returns warnings for the startup log about models, an Ollama server or a browser that are
 * configured and not available.
 */
export function modelSettingWarnings(ctx: AppContext): string[] {
  const { config, upstreams } = ctx
  const chosen: [SettingName, string, ModelType][] = [
    ['BUILDER_MODEL', config.builderModel, 'chat'],
    ['GAME_BUILDER_MODEL', config.gameBuilderModel, 'chat'],
    ['PAINTER_MODEL', config.painterModel, 'image'],
    ['SPEAKER_MODEL', config.speakerModel, 'audio'],
    ['SOUND_MODEL', config.soundModel, 'audio'],
  ]
  const unmet = chosen.flatMap(([name, id, type]) =>
    id === '' || findServiceModel(ctx, id, type)
      ? []
      : [`${name} is ${id}, and no ${type} model with a price has that id: berth models list.`],
  )
  const isLeftOut = config.agentsOn && config.builderModel === ''
  if (isLeftOut && !findServiceModel(ctx, demoBuilder, 'chat')) {
    unmet.push('BUILDER_MODEL is not set: nothing is built from prompts.')
  }
  const ollama = config.rows.find(({ name }) => name === 'OLLAMA_HOST')
  const isAsked = config.ollamaHost !== '' && ollama?.source !== 'default'
  if (isAsked && !upstreams.names.includes('ollama')) {
    unmet.push(`No Ollama answered at ${config.ollamaHost}: it is asked at the start alone.`)
  }
  const { builderBrowser } = config
  if (!['auto', 'off'].includes(builderBrowser) && !Bun.which(builderBrowser)) {
    unmet.push(
      `BUILDER_BROWSER is ${builderBrowser}, and no program is there: no build is looked at.`,
    )
  }
  return unmet
}
