import { searchesPerRequestMax } from '../../../kernel/limits.ts'
import type { Citation } from '../../conversation/chat-event.ts'
import type { CallPart, ChatRequest, Message } from '../../conversation/chat-request.ts'
import { estimatePromptTokens } from '../../models/tokens.ts'
import { createUsage, type Usage, type UsageLimits } from '../../models/usage.ts'
import { chatBodyOf } from '../../openai-chat/chat-body.ts'
import type { Searcher, SearchResult } from '../../providers/search.ts'
import { ChatMeter } from '../meter.ts'
import { findCitations, formatResults, parseQuery, tool, toolName } from './tool.ts'

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
  private messages: Message[] = []
  private pages: SearchResult[] = []
  meter: ChatMeter

  constructor(
    private readonly searcher: Searcher,
    private readonly client: ChatRequest,
    private readonly limits: UsageLimits,
    private readonly imageTokens: number,
  ) {
    this.meter = this.createMeter()
  }

  private createMeter(): ChatMeter {
    const countPrompt = () => estimatePromptTokens(chatBodyOf(this.request), this.imageTokens)
    return new ChatMeter({ limits: this.limits, choices: 1, countPrompt })
  }

  /** The request for the upstream in this round. The last round cannot search. */
  get request(): ChatRequest {
    const { client } = this
    const request = { ...client, messages: [...client.messages, ...this.messages] }
    if (!this.isLast) return { ...request, tools: [...client.tools, tool] }
    return client.tools.length > 0 ? request : { ...request, tools: [tool], toolChoice: 'none' }
  }

  private get isLast(): boolean {
    return this.requested >= searchesPerRequestMax
  }

  /** Output tokens that remain for this round; at least one. */
  get outputMax(): number {
    const all = this.limits.completion - searchesPerRequestMax
    return Math.max(1, all - this.earlier.completion)
  }

  /** Returns the calls for the client to run; undefined when the round only searches. */
  clientCallsOf(calls: CallPart[]): CallPart[] | undefined {
    const others = calls.filter(({ name }) => name !== toolName)
    return others.length > 0 || calls.length === 0 || this.isLast ? others : undefined
  }

  /** Makes the searches of a round, adds its messages, and starts the next round. */
  async search(text: string, calls: CallPart[], signal: AbortSignal): Promise<void> {
    const last = this.meter.usage(true)
    this.earlier = this.usage(true)
    this.longestPrompt = Math.max(this.longestPrompt, last.prompt)
    const accepted = calls.slice(0, searchesPerRequestMax - this.requested)
    this.requested += accepted.length
    const searches: CallPart[] = []
    const results: Message[] = []
    for (const call of accepted) {
      const id = call.id.slice(0, idCharsMax)
      const query = parseQuery(call.arguments) ?? ''
      const found = query === '' ? undefined : await this.searcher(query, signal)
      if (found) this.searches += 1
      const { content, pages } = formatResults(found)
      this.pages.push(...pages)
      searches.push({ ...call, id, name: toolName, arguments: JSON.stringify({ query }) })
      results.push({ role: 'tool', callId: id, content: [{ type: 'text', text: content }] })
    }
    const words = text ? [{ type: 'text' as const, text }] : []
    this.messages.push({ role: 'assistant', content: [...words, ...searches] }, ...results)
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
