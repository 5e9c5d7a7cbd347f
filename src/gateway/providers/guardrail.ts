import type { Config } from '../../kernel/config/settings.ts'
import { describeFailure, fetchJson } from '../../kernel/fetch.ts'
import type { Log } from '../../kernel/log.ts'
import { isRecord } from '../../kernel/schema.ts'

/** A question of the gateway to the guardrail. */
export interface GuardrailQuestion {
  stage: 'input' | 'output'
  request_id: string
  model: string
  /** The account that pays, such as "gateway:<id>". */
  account: string
  /** The prefix of the key; null for the web. */
  key: string | null
  /** The body of the request. */
  input?: unknown
  /** The choices of a completion, the text of a stream or of audio. */
  output?: unknown
}

/** `failed`: no valid response in time, and the operator refuses requests then. */
export type Verdict = { is: 'allowed' | 'failed' } | { is: 'refused'; reason: string | undefined }

const responseBytesMax = 65_536
const reasonCharsMax = 300
const allowed: Verdict = { is: 'allowed' }

declare module '../../kernel/context.ts' {
  interface AppContext {
    /** Checks what models receive; undefined without GUARDRAIL_URL. */
    readonly guardrail: Guardrail | undefined
  }
}

/** Asks the address of the operator whether a model may run, and its response be sent. */
export class Guardrail {
  constructor(
    private readonly config: Pick<
      Config,
      'guardrailUrl' | 'guardrailToken' | 'guardrailMs' | 'guardrailOutput' | 'guardrailFailure'
    >,
    private readonly log: Log,
  ) {}

  /** True if responses are checked, too. */
  get checksOutput(): boolean {
    return this.config.guardrailOutput
  }

  /** Asks; `signal` is that of the client. Throws nothing. */
  async ask(question: GuardrailQuestion, signal: AbortSignal): Promise<Verdict> {
    const { guardrailUrl, guardrailToken: token, guardrailMs: ms, guardrailFailure } = this.config
    const request = new Request(guardrailUrl, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token !== '' && { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(question, withoutMedia),
    })
    try {
      const bounds = {
        signal: AbortSignal.any([signal, AbortSignal.timeout(ms)]),
        bytesMax: responseBytesMax,
      }
      const response = await fetchJson(request, bounds)
      if (!isRecord(response) || typeof response.allow !== 'boolean') throw new Error('no verdict')
      if (response.allow) return allowed
      const { reason } = response
      const text = typeof reason === 'string' ? reason.slice(0, reasonCharsMax) : undefined
      return { is: 'refused', reason: text }
    } catch (error) {
      if (!signal.aborted) this.log.warn('guardrail.failed', { why: describeFailure(error) })
      return guardrailFailure === 'allow' ? allowed : { is: 'failed' }
    }
  }
}

/** Leaves out images and audio in the request: they are large, and base64 says nothing. */
const withoutMedia = (name: string, value: unknown): unknown =>
  typeof value === 'string' && (value.startsWith('data:') || (name === 'data' && isBase64(value)))
    ? '[media]'
    : value

const isBase64 = (text: string): boolean => text.length > 200 && /^[\w+/=-]+$/.test(text)
