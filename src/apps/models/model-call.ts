import type { Model } from '../../gateway/models/catalog.ts'
import type { ModelType, Price } from '../../gateway/models/price.ts'
import { CallDeadlines } from '../../gateway/paid/deadlines.ts'
import {
  failureOfRejection,
  isFailure,
  type UpstreamFailure,
} from '../../gateway/paid/upstream-failure.ts'
import type { MonitoredUpstream } from '../../gateway/providers/monitored-upstream.ts'
import type { Received, UpstreamCall } from '../../gateway/providers/upstream.ts'
import type { SettingName } from '../../kernel/config/settings.ts'
import type { AppContext } from '../../kernel/context.ts'
import { isApiError } from '../../kernel/errors.ts'
import { day } from '../../kernel/time.ts'

/** Builder model of the demo provider, used when none is configured. */
export const demoBuilder = 'demo/builder'

/** A model that the operator chose for a service task, with its upstream and price. */
export interface ServiceModel {
  model: Model
  upstream: string
  /** Name of the model at the upstream. */
  name: string
  price: Price
}

/** A model call without a usable result. */
export class NoModelResult extends Error {}

/** A model that declined the request; `reason` is its own text. */
export class ModelDeclined extends NoModelResult {
  constructor(
    message: string,
    readonly reason = '',
  ) {
    super(message)
  }
}

/** Finds the model of a setting, at its first upstream with a price. */
export function findServiceModel(
  ctx: AppContext,
  id: string,
  type: ModelType,
): ServiceModel | undefined {
  const model = id === '' ? undefined : ctx.catalog.find(id)?.model
  if (model?.type !== type) return undefined
  for (const { upstream, model: name, price } of model.offers) {
    if (price) return { model, upstream, name, price }
  }
  return undefined
}

/** The work that calls a model has a deadline of its own, which aborts its signal. */
const noDeadline = { firstByteMs: day, totalMs: day }

/** Calls an upstream once, and returns what it read. Throws NoModelResult and ModelDeclined. */
export async function callOnce<Result extends object>(
  ctx: AppContext,
  name: string,
  signal: AbortSignal,
  call: (
    upstream: MonitoredUpstream,
    deadlines: CallDeadlines,
  ) => Promise<Result | UpstreamFailure>,
): Promise<Result> {
  const upstream = ctx.upstreams.find(name)
  if (!upstream?.isAvailable) throw new NoModelResult(`${name} is unavailable`)
  const deadlines = new CallDeadlines(signal, noDeadline)
  const read = await call(upstream, deadlines)
    .catch((error: unknown) => {
      signal.throwIfAborted()
      throw new NoModelResult(String(error))
    })
    .finally(() => deadlines.end())
  if (!isFailure(read)) return read
  const { error } = read
  if (isApiError(error, 'content_policy')) throw new ModelDeclined(`${name} declined the request`)
  throw new NoModelResult(`${name} failed: ${error.errorName}`)
}

/** Calls a media model once, and reads its response. Throws NoModelResult and ModelDeclined. */
export const callModel = <Result extends object>(
  ctx: AppContext,
  { upstream: name, name: model }: ServiceModel,
  { path, body, signal }: Pick<UpstreamCall, 'path' | 'body' | 'signal'>,
  read: (received: Received, deadlines: CallDeadlines) => Promise<Result | UpstreamFailure>,
): Promise<Result> =>
  callOnce(ctx, name, signal, async (upstream, deadlines) => {
    const sent = await upstream.send({ path, model, body, signal: deadlines.signal })
    return 'rejected' in sent ? failureOfRejection(sent.rejected) : read(sent, deadlines)
  })

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
