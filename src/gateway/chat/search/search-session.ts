import { searchesPerRequestMax } from '../../../kernel/limits.ts'
import { itemsOf, type Json, recordOf } from '../../../kernel/schema.ts'
import { estimatePromptTokens } from '../../models/tokens.ts'
import { createUsage, type Usage, type UsageLimits } from '../../models/usage.ts'
import { recordsIn } from '../../providers/response.ts'
import type { Searcher, SearchResult } from '../../providers/search.ts'
import { ResponseMeter } from '../response-meter.ts'
import { type Citation, findCitations, formatResults, parseQuery, tool, toolName } from './tool.ts'

/** A complete tool call of a model. */
export interface ToolCall {
  id: string
  name: string
  arguments: string
  raw: Json
}

const idCharsMax = 100

/**
 * A chat that may search the web: several rounds with one upstream, until the model answers without
 * a search. Counts the usage of all rounds.
 */
export class SearchSession {
  /** Successful searches. Each has a price. */
  private searches = 0
  /** Searches that the model requested. */
  private requested = 0
  /** Usage of the earlier rounds, and the longest prompt of them. */
  private earlier = createUsage({})
  private longestPrompt = 0
  private messages: unknown[] = []
  private pages: SearchResult[] = []
  private meter: ResponseMeter

  constructor(
    private readonly searcher: Searcher,
    private readonly request: Json,
    private readonly limits: UsageLimits,
    private readonly imageTokens: number,
  ) {
    this.meter = this.createMeter()
  }

  private createMeter(): ResponseMeter {
    const countPrompt = () => estimatePromptTokens(this.body, this.imageTokens)
    return new ResponseMeter({ limits: this.limits, choices: 1, countPrompt })
  }

  /** The body for the upstream in this round. The last round cannot search. */
  get body(): Json {
    const { messages, tools } = this.request
    const clientTools = itemsOf(tools)
    const all = Array.isArray(messages) ? [...messages, ...this.messages] : messages
    const body = { ...this.request, messages: all }
    if (!this.isLast) return { ...body, tools: [...clientTools, tool] }
    return clientTools.length > 0 ? body : { ...body, tools: [tool], tool_choice: 'none' }
  }

  private get isLast(): boolean {
    return this.requested >= searchesPerRequestMax
  }

  /** Output tokens that remain for this round; at least one. */
  get outputTokensLeft(): number {
    const all = this.limits.completion - searchesPerRequestMax
    return Math.max(1, all - this.earlier.completion)
  }

  /** Reads a completion, or a chunk of a stream, of this round. */
  read(response: Json): void {
    this.meter.read(response)
  }

  /** Returns the calls for the client to run; undefined when the round only searches. */
  clientCallsOf(calls: ToolCall[]): ToolCall[] | undefined {
    const others = calls.filter(({ name }) => name !== toolName)
    return others.length > 0 || calls.length === 0 || this.isLast ? others : undefined
  }

  /** Makes the searches of a round, adds its messages, and starts the next round. */
  async search(text: string, calls: ToolCall[], signal: AbortSignal): Promise<void> {
    this.earlier = this.usage(true)
    this.longestPrompt = Math.max(this.longestPrompt, this.meter.usage(true).prompt)
    const accepted = calls.slice(0, searchesPerRequestMax - this.requested)
    this.requested += accepted.length
    const tool_calls: Json[] = []
    const results: Json[] = []
    for (const { id: fullId, arguments: args } of accepted) {
      const id = fullId.slice(0, idCharsMax)
      const query = parseQuery(args) ?? ''
      const found = query === '' ? undefined : await this.searcher(query, signal)
      if (found) this.searches += 1
      const { content, pages } = formatResults(found)
      this.pages.push(...pages)
      const call = { name: toolName, arguments: JSON.stringify({ query }) }
      tool_calls.push({ id, type: 'function', function: call })
      results.push({ role: 'tool', tool_call_id: id, content })
    }
    this.messages.push({ role: 'assistant', content: text || null, tool_calls }, ...results)
    this.meter = this.createMeter()
  }

  citations(text: string): Citation[] {
    return findCitations(text, this.pages)
  }

  get hasReportedUsage(): boolean {
    return this.meter.hasReportedUsage
  }

  /** Returns the usage of all rounds so far, with the searches. */
  usage(isWhole: boolean): Usage {
    const { earlier, searches } = this
    const last = this.meter.usage(isWhole)
    return createUsage({
      prompt: earlier.prompt + last.prompt,
      cached: earlier.cached + last.cached,
      cacheWrite: earlier.cacheWrite + last.cacheWrite,
      audio: earlier.audio + last.audio,
      completion: earlier.completion + last.completion,
      reasoning: earlier.reasoning + last.reasoning,
      estimated: earlier.estimated || last.estimated,
      longest: Math.max(this.longestPrompt, last.prompt),
      searches,
    })
  }
}

export function parseToolCalls({ tool_calls }: Json): ToolCall[] {
  return recordsIn(tool_calls).map((raw) => {
    const { name, arguments: args } = recordOf(raw.function)
    return { id: String(raw.id), name: String(name), arguments: String(args), raw }
  })
}
