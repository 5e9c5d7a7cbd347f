import { field } from '../frame/messages.ts'
import { CallError } from './protocol.ts'

/** Returns the message of an error in the formats of OpenAI, Anthropic and Google. */
async function messageOf(response: Response): Promise<string> {
  const body: unknown = await response.json().catch(() => undefined)
  const message = field(field(body, 'error'), 'message')
  return typeof message === 'string' ? message : `The model answered ${response.status}.`
}

/** Returns the error of a response, as a call of `service` throws it. */
export async function errorOf(response: Response): Promise<CallError> {
  const code = response.headers.get('x-service-code') || 'failed'
  return new CallError(code, await messageOf(response))
}
