import type { ChatEvent } from '../conversation/chat-event.ts'
import { TokenCount } from '../models/tokens.ts'
import {
  createUsage,
  largerUsage,
  type Usage,
  type UsageLimits,
  usageWithin,
} from '../models/usage.ts'

/** The limits of one response, and how to count its prompt. */
export interface MeterOptions {
  limits: UsageLimits
  /** The completions that the client asked for. */
  choices: number
  countPrompt(): number
  /** The usage of all rounds, for a chat that searches. */
  searching?: { usage(isWhole: boolean): Usage } | undefined
}

/** Measures a response, or the delivered part of a stream, for its charge and its failure. */
export class ChatMeter {
  /** True if there is text, a call, reasoning or audio for the client. */
  hasContent = false
  private reported: Usage | undefined
  /** True if content arrived after the reported usage. */
  private isStale = false
  private readonly output = new TokenCount()
  /** Indexes of filtered choices. Created when needed, because many streams are open at a time. */
  private filtered: Set<number> | undefined

  constructor(private readonly options: MeterOptions) {}

  get isFiltered(): boolean {
    return (this.filtered?.size ?? 0) >= this.options.choices
  }

  get hasReportedUsage(): boolean {
    return this.reported !== undefined
  }

  /** Reads the steps of a response. */
  read(events: readonly ChatEvent[]): void {
    for (const event of events) this.readEvent(event)
  }

  private readEvent(event: ChatEvent): void {
    switch (event.type) {
      case 'text':
      case 'refusal':
      case 'thinking':
      case 'arguments':
      case 'audio':
        return this.count(event.text)
      case 'call':
        return this.count(event.name)
      case 'end':
        if (event.reason === 'filtered') (this.filtered ??= new Set()).add(event.choice)
        // A model that spent all its tokens on hidden reasoning has responded, without output.
        if (event.reason === 'length') this.hasContent = true
        return
      case 'usage': {
        const usage = usageWithin(event.usage, this.options.limits)
        if (!usage) return
        this.reported = largerUsage(this.reported, usage)
        this.isStale = false
      }
    }
  }

  /** Reads an event whose only content is this UTF-8 text. */
  readText(bytes: Uint8Array, from: number, to: number): void {
    if (from === to) return
    this.hasContent = true
    this.isStale = true
    this.output.addBytes(bytes, from, to)
  }

  private count(text: string): void {
    if (text === '') return
    this.hasContent = true
    this.isStale = true
    this.output.add(text)
  }

  /**
   * Returns the usage: as reported by the upstream, else as counted here. For a response that broke
   * off (`isWhole` false) an early report misses later output. A report of only one side is
   * completed, because output without a prompt, or a prompt without output, cannot be right.
   */
  usage(isWhole: boolean): Usage {
    const { reported, options } = this
    if (options.searching) return options.searching.usage(isWhole)
    const counted = Math.min(this.output.tokens, options.limits.completion)
    const reportedPrompt = reported?.prompt ?? 0
    const reportedCompletion = reported?.completion ?? 0
    const isHalf = reportedPrompt > 0 !== reportedCompletion > 0 && counted > 0
    const isLast = isWhole || !this.isStale
    if (reported && !isHalf && (isLast || reportedCompletion >= counted)) return reported
    const prompt = reportedPrompt || Math.min(options.countPrompt(), options.limits.prompt)
    const completion =
      isLast && reportedCompletion ? reportedCompletion : Math.max(reportedCompletion, counted)
    return createUsage({ ...reported, prompt, completion, estimated: true })
  }
}
