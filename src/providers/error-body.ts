import { recordOf } from '../core/schema.ts'
import { parseRecord } from './response.ts'

/** Why an upstream refused a request, as its client may be told. */
export interface ErrorReason {
  said?: string
  code?: 'context_length_exceeded'
}

const charsMax = 500
/** How OpenAI and those that speak like it, and llama.cpp, name a prompt that is too long. */
const tooLong = ['context_length_exceeded', 'exceed_context_size_error']

/**
 * The reason in the body of a refusal. Programs act on it: coding agents shorten what they send
 * when it says that the prompt is too long, and a person drops the parameter it names.
 */
export function parseErrorReason(body: string): ErrorReason {
  const said = saidIn(body)?.replace(/\s+/g, ' ').trim().slice(0, charsMax).toWellFormed()
  const { code, type } = recordOf(parseRecord(body)?.error)
  const isTooLong = [code, type].some((name) => typeof name === 'string' && tooLong.includes(name))
  return { ...(said && { said }), ...(isTooLong && { code: 'context_length_exceeded' }) }
}

/** Its words, where OpenAI, Ollama, Mistral or FastAPI put them; OpenRouter tells another's. */
function saidIn(body: string): string | undefined {
  const { error, message, detail } = parseRecord(body) ?? {}
  const { message: own, metadata } = recordOf(error)
  const { raw } = recordOf(metadata)
  if (typeof raw === 'string' && raw) return saidIn(raw) ?? raw
  return [own, error, message, detail].find((text) => typeof text === 'string')
}
