import type { Model } from '../../gateway/models/catalog.ts'
import type { ModelType, Price } from '../../gateway/models/price.ts'
import { isContentFilterError } from '../../gateway/providers/error-body.ts'
import type { MonitoredUpstream } from '../../gateway/providers/monitored-upstream.ts'
import type { UpstreamPath } from '../../gateway/providers/upstream.ts'
import type { SettingName } from '../../kernel/config/settings.ts'
import type { AppContext } from '../../kernel/context.ts'
import { upstreamResponseBytesMax } from '../../kernel/limits.ts'
import { isRecord } from '../../kernel/schema.ts'

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

/** Bytes that are read of an error response. */
const failureBytesMax = 65_536

/** Returns an upstream that may be called. Throws NoModelResult. */
export function availableUpstream({ upstreams }: AppContext, name: string): MonitoredUpstream {
  const upstream = upstreams.find(name)
  if (upstream?.isAvailable) return upstream
  throw new NoModelResult(`${name} is unavailable`)
}

/** Calls a model once. Throws NoModelResult and ModelDeclined. */
export async function callModel(
  ctx: AppContext,
  { upstream, name }: ServiceModel,
  {
    path,
    body,
    signal,
  }: { path: UpstreamPath; body: Record<string, unknown>; signal: AbortSignal },
): Promise<Response> {
  const response = await availableUpstream(ctx, upstream)
    .send({ path, model: name, body, signal })
    .catch((error: unknown) => {
      signal.throwIfAborted()
      throw new NoModelResult(String(error))
    })
  if (response.ok) return response
  const errorText = new TextDecoder().decode(await readBytes(response, failureBytesMax))
  if (isContentFilterError(errorText)) throw new ModelDeclined(`${upstream} declined the request`)
  throw new NoModelResult(`${upstream} returned status ${response.status}`)
}

/** Throws NoModelResult when the response is empty, too large or interrupted. */
export async function readBytes(response: Response, max = upstreamResponseBytesMax) {
  const parts: Uint8Array[] = []
  let length = 0
  try {
    for await (const part of response.body ?? []) {
      length += part.byteLength
      if (length > max) throw new NoModelResult('the response is too large')
      parts.push(part)
    }
  } catch (error) {
    throw error instanceof NoModelResult
      ? error
      : new NoModelResult(`the response was interrupted: ${error}`)
  }
  if (length === 0) throw new NoModelResult('the response is empty')
  return new Uint8Array(Buffer.concat(parts))
}

/** Reads the JSON object of a response. Throws NoModelResult. */
export async function readJsonObject(response: Response): Promise<Record<string, unknown>> {
  const text = new TextDecoder().decode(await readBytes(response))
  try {
    const record: unknown = JSON.parse(text)
    if (isRecord(record)) return record
  } catch {}
  throw new NoModelResult('the response is not a JSON object')
}

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
