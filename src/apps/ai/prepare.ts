import { fieldsOf } from '../../gateway/gemini/contents.ts'
import { knownConfig, knownFields } from '../../gateway/gemini/decode.ts'
import type { Model } from '../../gateway/models/catalog.ts'
import type { ModelType } from '../../gateway/models/price.ts'
import { isReference } from '../../gateway/responses/decode-input.ts'
import type { Config } from '../../kernel/config/settings.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { aiOutputTokens } from '../../kernel/limits.ts'
import { isRecord, itemsOf, type Json, lookUp, recordOf, toText } from '../../kernel/schema.ts'

/**
 * Requests of pages as this server serves them. Tools of the other host are left out, and the model
 * answers without them; a search is that of this server, where it has one. The output is bounded
 * where the page does not do so, so that the hold fits a small cap.
 */

/** The model of a call, beside the one that the page asked for. */
interface Served {
  model: string
  requested: string
  canSearch: boolean
}

/** Changes the body of a call. */
type Prepare = (body: Json, served: Served) => void

/** Keeps the tools that `keep` returns something for, and the choice among them. */
function keepTools(body: Json, keep: (tool: Json) => unknown): void {
  const { tools, tool_choice: choice } = body
  if (!Array.isArray(tools)) return
  const kept = tools.flatMap((tool: unknown) => (isRecord(tool) ? (keep(tool) ?? []) : [tool]))
  const { name } = recordOf(choice)
  const isGone = name !== undefined && !kept.some((tool) => recordOf(tool)['name'] === name)
  if (kept.length === 0) delete body['tools']
  else body['tools'] = kept
  if (kept.length === 0 || isGone) delete body['tool_choice']
}

const typeOf = (tool: unknown): string => String(recordOf(tool)['type'] ?? 'custom')
const isFunction = (tool: unknown): boolean => /^(?:function|custom)$/.test(typeOf(tool))
const isSearch = (tool: unknown): boolean => /^web_search(?:_|$)/.test(typeOf(tool))

const asSystem = (message: unknown): unknown =>
  isRecord(message) && message['role'] === 'developer' ? { ...message, role: 'system' } : message

function prepareCompletion(body: Json, { canSearch }: Served): void {
  body['max_completion_tokens'] ??= body['max_tokens'] ?? aiOutputTokens
  delete body['max_tokens']
  delete body['service_tier']
  if (!canSearch) delete body['web_search_options']
  keepTools(body, (tool) => (isFunction(tool) ? tool : undefined))
  const { messages } = body
  // Pages send the newer name of OpenAI, which the setting of a server may reject.
  if (Array.isArray(messages)) body['messages'] = messages.map(asSystem)
}

function prepareMessage(body: Json, { canSearch }: Served): void {
  body['max_tokens'] ??= aiOutputTokens
  // Servers of others would get what the page sends.
  for (const name of ['mcp_servers', 'container', 'service_tier']) delete body[name]
  keepTools(body, (tool) => {
    if (isFunction(tool)) return tool
    return canSearch && isSearch(tool) ? { type: tool['type'], name: tool['name'] } : undefined
  })
}

function prepareResponse(body: Json, { canSearch }: Served): void {
  body['max_output_tokens'] ??= aiOutputTokens
  body['store'] = false
  // Stored on the account that pays, which other apps use too.
  for (const name of ['previous_response_id', 'conversation', 'prompt', 'background']) {
    delete body[name]
  }
  delete body['service_tier']
  const { input, tool_choice: choice } = body
  if (Array.isArray(input)) {
    body['input'] = input.filter((item) => !isReference(recordOf(item)))
  }
  const isKept = (tool: unknown): boolean => isFunction(tool) || (canSearch && isSearch(tool))
  keepTools(body, (tool) => (isKept(tool) ? tool : undefined))
  if (isRecord(choice) && !isKept(choice) && choice['type'] !== 'allowed_tools') {
    delete body['tool_choice']
  }
}

const pick = (fields: Json, names: ReadonlySet<string>): Json =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => names.has(name)))

/** Fields of Google that have no counterpart here are left out. */
function prepareGeneration(body: Json, { canSearch }: Served): void {
  const { tools, toolConfig, generationConfig, ...fields } = pick(fieldsOf(body), knownFields)
  const kept = [tools ?? []].flat().flatMap((tool: unknown) => {
    const { functionDeclarations, googleSearch, googleSearchRetrieval } = fieldsOf(tool)
    const search = canSearch && (googleSearch ?? googleSearchRetrieval) !== undefined
    const own = {
      ...(itemsOf(functionDeclarations).length > 0 && { functionDeclarations }),
      ...(search && { googleSearch: {} }),
    }
    return Object.keys(own).length > 0 ? [own] : []
  })
  for (const name of Object.keys(body)) delete body[name]
  const config = pick(fieldsOf(generationConfig), knownConfig)
  Object.assign(body, fields, {
    generationConfig: { maxOutputTokens: aiOutputTokens, ...config },
    ...(kept.length > 0 && { tools: kept, ...(toolConfig !== undefined && { toolConfig }) }),
  })
}

const imageFields = new Set(['model', 'prompt', 'n', 'response_format', 'stream'])

/** Returns the size of an image that most models have, for its sides as `WIDTHxHEIGHT`. */
export function commonSize(size: unknown): { size?: string } {
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(toText(size)) ?? []
  if (width === undefined || height === undefined) return {}
  const ratio = Number(width) / Number(height)
  return { size: ratio > 1.2 ? '1536x1024' : ratio < 1 / 1.2 ? '1024x1536' : '1024x1024' }
}

/** Qualities, styles and sizes are those of a model. */
function prepareImage(body: Json, { model, requested }: Served): void {
  if (model === requested) return
  const size = commonSize(body['size'])
  for (const name of Object.keys(body)) if (!imageFields.has(name)) delete body[name]
  Object.assign(body, size)
}

/** The changes of each API, by the path of its calls. */
const prepares: Readonly<Record<string, Prepare>> = {
  'v1/chat/completions': prepareCompletion,
  'v1/messages': prepareMessage,
  'v1/responses': prepareResponse,
  'v1/images/generations': prepareImage,
  'v1beta/models': prepareGeneration,
}

/** Models of OpenAI that reason, which reject these fields. */
const reasons = /(?:^|\/)(?:o\d|gpt-[5-9])/
const sampling = `temperature top_p topP top_k topK presence_penalty presencePenalty
  frequency_penalty frequencyPenalty logit_bias logprobs top_logprobs`.split(/\s+/)

/** Changes the body of a call. Fields that the page tuned for another model may be left out. */
export function prepareBody(path: string, body: Json, served: Served): void {
  lookUp(prepares, path)?.(body, served)
  if (served.model === served.requested || !reasons.test(served.model)) return
  for (const fields of [body, body['generationConfig']].filter(isRecord)) {
    for (const name of sampling) delete fields[name]
  }
}

/** The kinds of work of `service.ai`, each with a model of its own. */
export type Work = 'chat' | 'image' | 'speech' | 'transcription'

const modelTypeOf: Record<Work, ModelType> = {
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
  if (type !== modelTypeOf[work]) return false
  return type !== 'audio' || outputs.includes('audio') === (work === 'speech')
}
