import { itemsOf, recordOf } from '../../kernel/schema.ts'
import { TokenCount } from '../models/tokens.ts'
import { createUsage, type Usage } from '../models/usage.ts'

/** Bytes of a second of 16-bit audio at 24 kHz, OpenAI's default, and its characters in base64. */
const charsPerSecond = (48_000 * 4) / 3
/** OpenAI counts so many tokens for a second of audio. */
const inputTokensPerSecond = 10
const outputTokensPerSecond = 20

/** Counts what a session carried, for work whose upstream reports no usage. */
export class SessionEstimate {
  /** Tokens of the conversation at the last usage. */
  private context = 0
  private readonly input = { text: new TokenCount(), audioChars: 0 }
  private output = { text: new TokenCount(), audioChars: 0 }
  private speechChars = 0

  /** Adds an event of the client. */
  addInput(event: Record<string, unknown>): void {
    const { type, audio, ...rest } = event
    if (type === 'input_audio_buffer.append' && typeof audio === 'string') {
      this.input.audioChars += audio.length
      this.speechChars += audio.length
      return
    }
    const parts = itemsOf(recordOf(rest.item).content).map(recordOf)
    const spoken = parts.flatMap(({ audio: data }) => (typeof data === 'string' ? [data] : []))
    for (const data of spoken) this.input.audioChars += data.length
    if (spoken.length === 0) this.input.text.add(JSON.stringify(rest))
  }

  /** Adds a part of the running response. */
  addDelta(type: string, delta: string): void {
    if (/audio\.delta$/.test(type)) this.output.audioChars += delta.length
    else if (!type.includes('input_audio')) this.output.text.add(delta)
  }

  /** Takes a reported usage as the size of the conversation. */
  reset(usage: unknown): void {
    const { total_tokens: total } = recordOf(usage)
    if (typeof total === 'number' && Number.isFinite(total)) this.context = Math.max(0, total)
    this.input.text = new TokenCount()
    this.input.audioChars = 0
    this.output = { text: new TokenCount(), audioChars: 0 }
  }

  /** Returns the usage of the running response so far. */
  response(): Usage {
    const audio = Math.ceil(secondsOf(this.input.audioChars) * inputTokensPerSecond)
    const audioCompletion = Math.ceil(secondsOf(this.output.audioChars) * outputTokensPerSecond)
    return createUsage({
      prompt: Math.ceil(this.context) + this.input.text.tokens + audio,
      audio,
      completion: this.output.text.tokens + audioCompletion,
      audioCompletion,
    })
  }

  /** Returns the usage of a transcription of the audio since the last one. */
  transcription(text = ''): Usage {
    const seconds = secondsOf(this.speechChars)
    this.speechChars = 0
    const count = new TokenCount()
    count.add(text)
    const prompt = Math.ceil(seconds * inputTokensPerSecond)
    return createUsage({ seconds, prompt, audio: prompt, completion: count.tokens })
  }
}

const secondsOf = (chars: number): number => chars / charsPerSecond
