import { field, text } from '../frame/messages.ts'
import { allowModels, raiseCap } from './consent.ts'
import { CallError } from './protocol.ts'
import type { Call, Handler } from './receiver.ts'
import { callServer, sendToServer } from './server.ts'

/** The paths of models, as the server has them (src/apps/ai/routes.ts). No other path is sent. */
const paths =
  /^(?:v1\/(?:chat\/completions|messages|responses|images\/(?:generations|edits)|audio\/(?:speech|transcriptions))|v1beta\/models\/[\w.-]{1,100}:(?:generateContent|streamGenerateContent(?:\?alt=sse)?))$/

/** A field of a form: its name, and a text or a file. */
type FormField = [name: string, value: string | Blob]

const isFormField = (row: unknown): row is FormField =>
  Array.isArray(row) && typeof row[0] === 'string'

/** Returns the body of a call: JSON as a text, or the fields of a form. */
function bodyOf(input: unknown): BodyInit {
  const fields = field(input, 'form')
  if (!Array.isArray(fields)) return text(input, 'body', Infinity)
  const form = new FormData()
  for (const [name, value] of fields.filter(isFormField)) {
    if (value instanceof File) form.append(name, value, value.name)
    else if (value instanceof Blob) form.append(name, value, 'recording')
    else form.append(name, value)
  }
  return form
}

/** Returns the path of a call. Throws `not_found` before the player is asked. */
function pathIn(input: unknown): string {
  const path = text(input, 'path', 200)
  if (paths.test(path)) return path
  throw new CallError('not_found', `service.ai has no ${path}.`)
}

function send(path: string, input: unknown, { app, signal }: Call): Promise<Response> {
  return sendToServer({ app, method: 'POST', path: `/ai/${path}`, body: bodyOf(input), signal })
}

const codeOf = ({ headers }: Response): string => headers.get('x-service-code') ?? ''

/**
 * Sends a call after the player has agreed. A consent that ended since then is asked again, and so
 * is a cap of the day that is too low.
 */
async function sendAllowed(input: unknown, call: Call): Promise<Response> {
  const path = pathIn(input)
  await allowModels(call)
  const sentAt = performance.now()
  const response = await send(path, input, call)
  const code = codeOf(response)
  if (code === 'daily_cap' && (await raiseCap(call, sentAt))) return send(path, input, call)
  if (!/^not_(?:granted|signed_in)$/.test(code)) return response
  await allowModels(call, code)
  return send(path, input, call)
}

/** The calls of `service.ai`. */
export const aiCalls: Record<string, Handler> = {
  async 'ai.limits'(_, call) {
    const response = await callServer(call, 'GET', '/ai')
    return field(await response.json(), 'limits')
  },
  /** Passes a response on: first its head, then its chunks. The page gets no other header. */
  async 'ai.request'(input, call) {
    const response = await sendAllowed(input, call)
    const { status, headers, body } = response
    const [type, cost] = ['content-type', 'x-service-cost'].map((name) => headers.get(name) ?? '')
    call.send({ status, type, cost, code: codeOf(response) })
    const reader = body?.getReader()
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
      call.send(next.value)
    }
    return null
  },
}
