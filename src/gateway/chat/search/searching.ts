import { itemsOf, recordOf } from '../../../core/schema.ts'
import { searchesPerRequestMax } from '../../../limits.ts'
import { promptTokensOf } from '../../../models/tokens.ts'
import { type Usage, type UsageLimits, usageOf } from '../../../models/usage.ts'
import { recordsIn } from '../../../providers/answer.ts'
import type { Found } from '../../../providers/search/engines.ts'
import type { Searcher } from '../../../providers/search/searcher.ts'
import { Carried } from '../carried.ts'
import { type Citation, citationsIn } from './citations.ts'
import { queryOf, resultOf, tool, toolName } from './tool.ts'

type Json = Record<string, unknown>

/** A tool call of a model, whole. */
export interface Called {
  id: string
  name: string
  arguments: string
  /** As it came. */
  raw: Json
}

const idCharsMax = 100

/**
 * A request that may search the web: several rounds with one upstream, until the model answers
 * without searching. What all of them used is counted here.
 */
export class Searching {
  /** Searches that were made: each is paid. */
  private made = 0
  /** Searches that the model asked for. */
  private asked = 0
  /** What the rounds before this one used, and the most input tokens that one had. */
  private earlier = usageOf({})
  private longest = 0
  private messages: unknown[] = []
  private pages: Found[] = []
  private carried: Carried

  constructor(
    private readonly search: Searcher,
    private readonly wanted: Json,
    private readonly limits: UsageLimits,
    private readonly pictureTokens: number,
  ) {
    this.carried = new Carried(this.bounds)
  }

  private get bounds() {
    const countPrompt = () => promptTokensOf(this.body, this.pictureTokens)
    return { limits: this.limits, choices: 1, countPrompt }
  }

  /** What the upstream is sent in this round. The last one cannot search. */
  get body(): Json {
    const { messages, tools } = this.wanted
    const own = itemsOf(tools)
    const all = Array.isArray(messages) ? [...messages, ...this.messages] : messages
    const body = { ...this.wanted, messages: all }
    if (!this.isLast) return { ...body, tools: [...own, tool] }
    return own.length > 0 ? body : { ...body, tools: [tool], tool_choice: 'none' }
  }

  get isLast(): boolean {
    return this.asked >= searchesPerRequestMax
  }

  /** Output tokens that are left for this round; there is one for each, whatever was used. */
  get left(): number {
    const all = this.limits.completion - searchesPerRequestMax
    return Math.max(1, all - this.earlier.completion)
  }

  /** Reads an answer, or a chunk of one, of this round. */
  read(answer: Json): void {
    this.carried.read(answer)
  }

  /** The calls of this round that are the client's to answer; undefined when it only searches. */
  theirs(calls: Called[]): Called[] | undefined {
    const theirs = calls.filter(({ name }) => name !== toolName)
    return theirs.length > 0 || calls.length === 0 || this.isLast ? theirs : undefined
  }

  /** Makes the searches that a round asked for, and goes on to the next round. */
  async next(text: string, calls: Called[], signal: AbortSignal): Promise<void> {
    this.earlier = this.usage(true)
    this.longest = Math.max(this.longest, this.carried.usage(true).prompt)
    const kept = calls.slice(0, searchesPerRequestMax - this.asked)
    this.asked += kept.length
    const asking: Json[] = []
    const answers: Json[] = []
    for (const { id: given, arguments: written } of kept) {
      const id = given.slice(0, idCharsMax)
      const query = queryOf(written) ?? ''
      const found = query === '' ? undefined : await this.search(query, signal)
      if (found) this.made += 1
      const { content, pages } = resultOf(found)
      this.pages.push(...pages)
      const sent = { name: toolName, arguments: JSON.stringify({ query }) }
      asking.push({ id, type: 'function', function: sent })
      answers.push({ role: 'tool', tool_call_id: id, content })
    }
    this.messages.push({ role: 'assistant', content: text || null, tool_calls: asking })
    this.messages.push(...answers)
    this.carried = new Carried(this.bounds)
  }

  /** The pages that the answer stands on. */
  citations(text: string): Citation[] {
    return citationsIn(text, this.pages)
  }

  /** Whether the upstream told the usage of this round. */
  get isTold(): boolean {
    return this.carried.isTold
  }

  /** What all rounds used until now, and the searches. */
  usage(isWhole: boolean): Usage {
    const { earlier, made } = this
    const last = this.carried.usage(isWhole)
    return usageOf({
      prompt: earlier.prompt + last.prompt,
      cached: earlier.cached + last.cached,
      cacheWrite: earlier.cacheWrite + last.cacheWrite,
      audio: earlier.audio + last.audio,
      completion: earlier.completion + last.completion,
      reasoning: earlier.reasoning + last.reasoning,
      estimated: earlier.estimated || last.estimated,
      longest: Math.max(this.longest, last.prompt),
      searches: made,
    })
  }
}

/** The tool calls of a message. */
export function callsOf({ tool_calls }: Json): Called[] {
  return recordsIn(tool_calls).map((raw) => {
    const called = recordOf(raw.function)
    const { name, arguments: sent } = called
    return { id: String(raw.id), name: String(name), arguments: String(sent), raw }
  })
}
