import { isRecord, itemsOf, type Json } from '../../kernel/schema.ts'
import { TokenCount } from '../models/tokens.ts'
import {
  createUsage,
  largerUsage,
  readUsage,
  type Usage,
  type UsageLimits,
} from '../models/usage.ts'

/** The limits of one response, and how to count its prompt. */
export interface MeterOptions {
  limits: UsageLimits
  /** The field `n`. */
  choices: number
  countPrompt(): number
  /** The usage of all rounds, for a chat that searches. */
  searching?: { usage(isWhole: boolean): Usage } | undefined
}

/** Measures a response, or the delivered part of a stream, for its charge and its failure. */
export class ResponseMeter {
  /** True if there is text, a call, reasoning or audio for the client. */
  hasContent = false
  private reported: Usage | undefined
  /** True if content arrived after the reported usage. */
  private isStale = false
  private readonly output = new TokenCount()
  /** Indexes of filtered choices. Created when needed, because many streams are open at a time. */
  private filtered: Set<unknown> | undefined

  constructor(private readonly options: MeterOptions) {}

  get isFiltered(): boolean {
    return (this.filtered?.size ?? 0) >= this.options.choices
  }

  get hasReportedUsage(): boolean {
    return this.reported !== undefined
  }

  /** Reads a completion (`message`) or one chunk of a stream (`delta`). */
  read(response: Json): void {
    for (const choice of itemsOf(response.choices)) if (isRecord(choice)) this.readChoice(choice)
    // Nearly all chunks of a stream have no usage.
    if (!response.usage) return
    const reported = readUsage(response.usage, this.options.limits)
    if (!reported) return
    this.reported = largerUsage(this.reported, reported)
    this.isStale = false
  }

  private readChoice(choice: Json): void {
    const { finish_reason, index = 0 } = choice
    if (finish_reason === 'content_filter') (this.filtered ??= new Set()).add(index)
    // A model that spent all its tokens on hidden reasoning has responded, without visible output.
    if (finish_reason === 'length') this.hasContent = true
    const message = isRecord(choice.delta) ? choice.delta : choice.message
    if (isRecord(message)) this.readMessage(message)
  }

  private readMessage(message: Json): void {
    const { content, reasoning, reasoning_content, refusal, tool_calls, audio } = message
    this.count(content)
    this.count(reasoning ?? reasoning_content)
    this.count(refusal)
    for (const part of itemsOf(content)) if (isRecord(part)) this.count(part.text)
    for (const call of itemsOf(tool_calls)) if (isRecord(call)) this.readCall(call)
    this.readCall(message)
    if (isRecord(audio)) for (const text of [audio.transcript, audio.data]) this.count(text)
  }

  private readCall({ function: fn, function_call, custom }: Json): void {
    const call = fn ?? function_call ?? custom
    if (isRecord(call)) for (const text of [call.name, call.arguments, call.input]) this.count(text)
  }

  /** Reads a chunk whose only content is this UTF-8 text. */
  readText(bytes: Uint8Array, from: number, to: number): void {
    if (from === to) return
    this.hasContent = true
    this.isStale = true
    this.output.addBytes(bytes, from, to)
  }

  private count(text: unknown): void {
    if (typeof text !== 'string' || text === '') return
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
