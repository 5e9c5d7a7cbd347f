import type { FieldNames } from '../../kernel/errors.ts'
import { choicesMax } from '../../kernel/limits.ts'
import { isRecord, type Json, recordOf, toText } from '../../kernel/schema.ts'
import { findCount, invalidField, readFlag, readModels, searchIn } from '../fields.ts'
import { type Preferences, readPreferences } from '../paid/preferences.ts'
import { rejectUnpricedFields } from '../paid/unpriced-fields.ts'
import { type Conversation, insertFile, readMessages } from './conversation.ts'
import { convertFunctionMessages, convertFunctions } from './functions.ts'

/** A parsed chat request. The adapter of an upstream selects the fields that it receives. */
export interface ChatRequest {
  /** The body for the upstream, without the fields of this gateway. */
  body: Json
  /** The model and its fallbacks, in the order of the attempts. */
  modelIds: string[]
  conversation: Conversation
  isStream: boolean
  /** True if the last chunk of the stream has the usage. */
  wantsUsage: boolean
  /** The field `n`. */
  choices: number
  outputMax: number | undefined
  search: boolean
  /** True if the client knows functions but no tools. */
  hasFunctions: boolean
  preferences: Preferences
}

/** The parts of a chat request that stay in memory while it is served. */
export type PreparedChat = Omit<ChatRequest, 'modelIds' | 'conversation' | 'preferences'> & {
  /** Bytes of the native request that may be sent instead. */
  nativeBytes?: number | undefined
}

/**
 * Parses a chat request (document 2, section 4), messages first, in the order of section 7. Throws
 * `no_messages`, `bad_role`, `bad_part`, `no_usable_messages`, `bad_request`.
 */
export function parseChatRequest(raw: unknown, developerRole: 'system' | undefined): ChatRequest {
  const body = recordOf(raw)
  const sentMessages = convertFunctionMessages(body.messages)
  const conversation = readMessages(insertFile(sentMessages, body.file_id), developerRole)
  const { model, models, provider, file_id, usage, functions, function_call, ...more } = body
  const { web_search, web_search_options, plugins, ...fields } = more
  rejectUnpricedFields(body, 'chat')
  checkTools(body.tools)
  const fromFunctions = convertFunctions(body)
  const options = body.stream_options ?? undefined
  if (options !== undefined && !isRecord(options)) {
    throw invalidField('stream_options', 'stream_options must be an object.')
  }
  return {
    body: {
      ...fields,
      ...mapFields(fields),
      ...fromFunctions,
      messages: conversation.messages,
    },
    hasFunctions: fromFunctions !== undefined,
    modelIds: readModels(model, models),
    conversation,
    isStream: readFlag(body, 'stream'),
    wantsUsage: options?.include_usage === true || includesUsage(usage),
    choices: findCount(body, 'n', choicesMax) ?? 1,
    outputMax: maxDefined(
      findCount(body, 'max_tokens', Number.MAX_SAFE_INTEGER),
      findCount(body, 'max_completion_tokens', Number.MAX_SAFE_INTEGER),
    ),
    search: readFlag(body, 'web_search') || isRecord(web_search_options) || hasWebPlugin(plugins),
    preferences: readPreferences(provider),
  }
}

/** Returns the names of the fields in a request that this module reads under another name. */
export function sentNames(raw: unknown): FieldNames {
  const { web_search, web_search_options, plugins, max_tokens, max_completion_tokens } =
    recordOf(raw)
  const isOptions = isRecord(web_search_options)
  return {
    ...(web_search !== true && {
      // Without a field, the suffix `:online` of a model asks for the search.
      web_search: isOptions
        ? 'web_search_options'
        : searchIn(hasWebPlugin(plugins) ? 'plugins' : 'model'),
    }),
    ...(max_tokens == null &&
      max_completion_tokens != null && { max_tokens: 'max_completion_tokens' }),
  }
}

/** Returns the fields under the names that all upstreams know. Throws `bad_request`. */
function mapFields({ tool_choice, reasoning, reasoning_effort }: Json): Json {
  if (reasoning !== undefined && reasoning !== null && !isRecord(reasoning)) {
    throw invalidField('reasoning', 'reasoning must be an object.')
  }
  const { effort, enabled } = recordOf(reasoning)
  const mappedEffort = reasoning_effort ?? effort ?? (enabled === false ? 'none' : undefined)
  return {
    // Mistral's name.
    ...(tool_choice === 'any' && { tool_choice: 'required' }),
    ...(mappedEffort !== undefined && { reasoning_effort: mappedEffort }),
  }
}

/** The client runs tools of these types. */
const toolTypes = ['function', 'custom']

/** Throws `bad_request` for tools that run at the upstream: no hold covers their cost. */
function checkTools(tools: unknown): void {
  if (tools === undefined || tools === null) return
  if (!Array.isArray(tools)) throw invalidField('tools', 'tools must be an array.')
  if (tools.every((tool) => isRecord(tool) && toolTypes.includes(toText(tool.type)))) return
  throw invalidField('tools', 'A tool must have the type function. Send web_search for a search.')
}

/** OpenRouter's field for usage in a stream, which OpenAI rejects. */
const includesUsage = (usage: unknown): boolean => isRecord(usage) && usage.include === true

/** OpenRouter's field for web search. Plugins are not forwarded: no hold covers their cost. */
const hasWebPlugin = (plugins: unknown): boolean =>
  Array.isArray(plugins) && plugins.some((plugin) => isRecord(plugin) && plugin.id === 'web')

const maxDefined = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.max(a, b)
