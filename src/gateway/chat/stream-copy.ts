import { isRecord, itemsOf, type Json, recordOf } from '../../kernel/schema.ts'
import type { StoredResponse } from '../../money/idempotency/idempotency.ts'
import { asString, parseRecord, recordsIn } from '../providers/response.ts'
import type { NativeChat } from './native-chat.ts'

/** A bounded copy of a stream's bytes, for its replay, its trace and the guardrail. */
export class StreamCopy {
  private readonly parts: Uint8Array[] = []
  private bytes = 0

  /** `native`: the API of the stream, where it is not a chat. */
  constructor(
    private readonly bytesMax: number,
    private readonly native: NativeChat | undefined,
  ) {}

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

  /** The texts of all choices: words, spoken words, and the names and arguments of calls. */
  get text(): string {
    return this.textsOf(wordsOf)
  }

  /** The same with the reasoning. */
  get textWithReasoning(): string {
    return this.textsOf((delta) => reasoningOf(delta) + wordsOf(delta))
  }

  private textsOf(read: (delta: Json) => string): string {
    const texts = new Map<unknown, string>()
    const lines = new TextDecoder().decode(Buffer.concat(this.parts)).split('\n')
    const converter = this.native?.createConverter()
    for (const line of lines) {
      const data = line.replace(/^data: ?/, '')
      const chunk = parseRecord((converter ? converter.read(data) : data) ?? '')
      for (const { index = 0, delta } of recordsIn(chunk?.choices)) {
        texts.set(index, (texts.get(index) ?? '') + read(recordOf(delta)))
      }
    }
    return [...texts.values()].join('\n')
  }

  /** The stored response; undefined for a stream that is too long to replay. */
  get response(): StoredResponse | undefined {
    if (this.isFull) return undefined
    return { status: 200, body: { stream: new TextDecoder().decode(Buffer.concat(this.parts)) } }
  }
}

function wordsOf(delta: Json): string {
  const { content, refusal, audio, tool_calls, function_call } = delta
  const called = [...recordsIn(tool_calls).map((call) => call.function ?? call.custom)]
  const calls = [...called, function_call].filter(isRecord)
  return [
    content,
    refusal,
    recordOf(audio).transcript,
    ...calls.flatMap((call) => [call.name, call.arguments ?? call.input]),
    ...itemsOf(content).map((part) => recordOf(part).text),
  ]
    .map(asString)
    .join('')
}

const reasoningOf = ({ reasoning, reasoning_content }: Json): string =>
  asString(reasoning ?? reasoning_content)
