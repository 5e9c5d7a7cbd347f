import { isRecord, itemsOf } from '../../core/schema.ts'
import { TokenCount } from '../../models/tokens.ts'
import { readUsage, type Usage, type UsageLimits, usageOf } from '../../models/usage.ts'

type Json = Record<string, unknown>

/** What one request may use, and our own count of its prompt. */
export interface Bounds {
  limits: UsageLimits
  /** `n` */
  choices: number
  countPrompt(): number
  /** Where there were several rounds at the upstream: what all of them used. */
  searching?: { usage(isWhole: boolean): Usage } | undefined
}

/** What an answer, or the part of a stream that came, holds: for its charge and its verdict. */
export class Carried {
  /** Whether there is anything a client asked for: text, calls, reasoning, sound. */
  hasContent = false
  private said: Usage | undefined
  /** Content came after the last usage. */
  private isStale = false
  private readonly written = new TokenCount()
  /** Made when it is needed: thousands of streams live at a time. */
  private filtered: Set<unknown> | undefined

  constructor(private readonly bounds: Bounds) {}

  /** Whether the content rules ended every choice. */
  get isFiltered(): boolean {
    return (this.filtered?.size ?? 0) >= this.bounds.choices
  }

  /** Whether the upstream told its usage. */
  get isTold(): boolean {
    return this.said !== undefined
  }

  /** Reads a whole answer (`message`) or one chunk of a stream (`delta`). */
  read(answer: Json): void {
    for (const choice of itemsOf(answer.choices)) if (isRecord(choice)) this.readChoice(choice)
    // Nearly every chunk of a stream has none.
    if (!answer.usage) return
    const said = readUsage(answer.usage, this.bounds.limits)
    if (!said) return
    this.said = said
    this.isStale = false
  }

  private readChoice(choice: Json): void {
    const { finish_reason, index = 0 } = choice
    if (finish_reason === 'content_filter') (this.filtered ??= new Set()).add(index)
    // A model that thought until its tokens were spent has nothing to show, and has answered.
    if (finish_reason === 'length') this.hasContent = true
    const held = isRecord(choice.delta) ? choice.delta : choice.message
    if (isRecord(held)) this.readHeld(held)
  }

  /** Counts every text of a message or a delta that a model wrote. */
  private readHeld(held: Json): void {
    const { content, reasoning, reasoning_content, refusal, tool_calls, audio } = held
    this.count(content)
    this.count(reasoning ?? reasoning_content)
    this.count(refusal)
    for (const part of itemsOf(content)) if (isRecord(part)) this.count(part.text)
    for (const call of itemsOf(tool_calls)) if (isRecord(call)) this.readCall(call)
    this.readCall(held)
    if (isRecord(audio)) for (const text of [audio.transcript, audio.data]) this.count(text)
  }

  private readCall({ function: called, function_call, custom }: Json): void {
    const sent = called ?? function_call ?? custom
    if (isRecord(sent)) for (const text of [sent.name, sent.arguments, sent.input]) this.count(text)
  }

  /** Reads a chunk that tells nothing but this text, in UTF-8. */
  readText(bytes: Uint8Array, from: number, to: number): void {
    if (from === to) return
    this.hasContent = true
    this.isStale = true
    this.written.addBytes(bytes, from, to)
  }

  private count(text: unknown): void {
    if (typeof text !== 'string' || text === '') return
    this.hasContent = true
    this.isStale = true
    this.written.add(text)
  }

  /**
   * What it used: as the upstream says, else by our own count. Of what broke off (`isWhole` false)
   * an early usage does not count what came after it. Half a usage is filled up: nobody writes for
   * nothing, or of nothing.
   */
  usage(isWhole: boolean): Usage {
    const { said, bounds } = this
    if (bounds.searching) return bounds.searching.usage(isWhole)
    const own = Math.min(this.written.tokens, bounds.limits.completion)
    const toldPrompt = said?.prompt ?? 0
    const toldCompletion = said?.completion ?? 0
    const isHalf = toldPrompt > 0 !== toldCompletion > 0 && own > 0
    const isLast = isWhole || !this.isStale
    if (said && !isHalf && (isLast || toldCompletion >= own)) return said
    const prompt = toldPrompt || Math.min(bounds.countPrompt(), bounds.limits.prompt)
    const completion = isLast && toldCompletion ? toldCompletion : Math.max(toldCompletion, own)
    return usageOf({ ...said, prompt, completion, estimated: true })
  }
}
