import { completed, type Success } from '../../kernel/http/outcome.ts'
import type { ChatEvent } from '../conversation/chat-event.ts'
import type { Step } from './source.ts'

/** A bounded copy of a stream: its bytes for a replay, and its steps for the cache. */
export class StreamCopy {
  private readonly parts: Uint8Array[] = []
  private readonly kept: Step[] = []
  private bytes = 0
  /** Reads a step of the stream, where its events are needed. */
  readonly read: ((step: Step) => void) | undefined

  constructor(
    private readonly bytesMax: number,
    { texts, keepsSteps }: { texts: StreamTexts | undefined; keepsSteps: boolean },
  ) {
    if (!texts && !keepsSteps) return
    this.read = (step) => {
      texts?.read(step.events ?? [])
      if (keepsSteps && !this.isFull) this.kept.push(step)
    }
  }

  /** All steps; undefined for a stream that is too long to keep. */
  get steps(): readonly Step[] | undefined {
    return this.isFull ? undefined : this.kept
  }

  add(part: Uint8Array): void {
    this.bytes += part.byteLength
    if (!this.isFull) this.parts.push(part)
  }

  /** Returns the client's stream, and reads it here to its end, or until the copy is full. */
  readBeside(stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const [client, own] = stream.tee()
    void this.readAll(own)
    return client
  }

  private async readAll(stream: ReadableStream<Uint8Array>): Promise<void> {
    for await (const _ of stream) if (this.isFull) return
  }

  private get isFull(): boolean {
    return this.bytes > this.bytesMax
  }

  /** The stored response; undefined for a stream that is too long to replay. */
  get response(): Success | undefined {
    if (this.isFull) return undefined
    return completed({ stream: new TextDecoder().decode(Buffer.concat(this.parts)) })
  }
}

/** The texts of a stream, bounded, for the guardrail and traces. */
export class StreamTexts {
  private readonly words = new Map<number, string>()
  private readonly all = new Map<number, string>()
  private chars = 0

  constructor(private readonly charsMax: number) {}

  read(events: readonly ChatEvent[]): void {
    for (const event of events) if ('choice' in event) this.readEvent(event)
  }

  private readEvent(event: Extract<ChatEvent, { choice: number }>): void {
    const text = event.type === 'call' ? event.name : 'text' in event ? event.text : ''
    this.chars += text.length
    if (text === '' || this.chars > this.charsMax) return
    append(this.all, event.choice, text)
    if (event.type !== 'thinking') append(this.words, event.choice, text)
  }

  /** The texts of all choices: words, spoken words, and the names and arguments of calls. */
  get text(): string {
    return [...this.words.values()].join('\n')
  }

  /** The same with the reasoning. */
  get textWithReasoning(): string {
    return [...this.all.values()].join('\n')
  }
}

const append = (texts: Map<number, string>, choice: number, text: string): void =>
  void texts.set(choice, (texts.get(choice) ?? '') + text)
