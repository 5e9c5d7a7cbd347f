import { isRecord, recordOf } from '../../core/schema.ts'
import { choicesMax } from '../../limits.ts'
import { misfit, readCount, readModels } from '../fields.ts'
import { type Preferences, readPreferences } from '../paid/preferences.ts'
import { type Conversation, readMessages, withFile } from './messages.ts'

type Body = Record<string, unknown>

/** A chat request, read. What is not read here is forwarded as it came. */
export interface Asked {
  /** What goes to the upstream: without the fields that are ours alone. */
  body: Body
  /** The model and its fallbacks, in the order they are tried. */
  modelIds: string[]
  conversation: Conversation
  stream: boolean
  /** Whether the client wants the usage in the last chunk of its stream. */
  wantsUsage: boolean
  /** `n` */
  choices: number
  /** `max_tokens`, `max_completion_tokens`; undefined when neither is there. */
  outputMax: number | undefined
  search: boolean
  preferences: Preferences
}

/** What is kept of it while it is served. */
export type Fitted = Omit<Asked, 'modelIds' | 'conversation' | 'preferences'>

/**
 * Reads a chat request (document 2, section 4), messages first, as section 7 orders its rows.
 * Refuses no_messages, bad_role, bad_part, no_usable_messages, bad_request.
 */
export function readAsked(raw: unknown, developer: 'system' | undefined): Asked {
  const body: Body = recordOf(raw)
  const conversation = readMessages(withFile(body.messages, body.file_id), developer)
  const { model, models, provider, web_search, web_search_options, plugins, ...sent } = body
  const forwarded = withoutOthers(sent)
  checkTools(body.tools)
  const options = body.stream_options ?? undefined
  if (options !== undefined && !isRecord(options)) {
    throw misfit('stream_options', 'stream_options is an object.')
  }
  return {
    body: { ...forwarded, messages: conversation.messages },
    modelIds: readModels(model, models),
    conversation,
    stream: readFlag(body, 'stream'),
    wantsUsage: options?.include_usage === true || isIncluded(body.usage),
    choices: readCount(body, 'n', choicesMax) ?? 1,
    outputMax: most(
      readCount(body, 'max_tokens', Number.MAX_SAFE_INTEGER),
      readCount(body, 'max_completion_tokens', Number.MAX_SAFE_INTEGER),
    ),
    search: readFlag(body, 'web_search') || isRecord(web_search_options) || isWeb(plugins),
    preferences: readPreferences(provider),
  }
}

/**
 * Without what is ours, and what an upstream bills beside what is held: a dearer tier, searches of
 * its own, llama.cpp's words for max_tokens and n, OpenRouter's presets, xAI's answers that come
 * later.
 */
function withoutOthers(sent: Body): Body {
  const { file_id, usage, search_parameters, n_predict, n_cmpl, preset, deferred, ...body } = sent
  return body.service_tier === 'priority' ? { ...body, service_tier: undefined } : body
}

/** What a tool of another type costs at an upstream is in no hold. Refuses bad_request. */
function checkTools(tools: unknown): void {
  if (tools === undefined || tools === null) return
  if (!Array.isArray(tools)) throw misfit('tools', 'tools is a list.')
  if (tools.every((tool) => isRecord(tool) && toolTypes.includes(String(tool.type)))) return
  throw misfit('tools', 'A tool is of the type function: to search the web, send web_search.')
}

/** How OpenRouter's clients ask for the usage of a stream; OpenAI refuses the field. */
const isIncluded = (usage: unknown): boolean => isRecord(usage) && usage.include === true

/** Both are the client's to run. */
const toolTypes = ['function', 'custom']

/** How OpenRouter's clients ask for web search. No plugin goes on: what it costs is not held. */
const isWeb = (plugins: unknown): boolean =>
  Array.isArray(plugins) && plugins.some((plugin) => isRecord(plugin) && plugin.id === 'web')

function readFlag(body: Body, name: string): boolean {
  const value = body[name] ?? false
  if (typeof value !== 'boolean') throw misfit(name, `${name} is true or false.`)
  return value
}

const most = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.max(a, b)
