/**
 * Responses of the APIs of models that need no model: lists of models, and errors. A client that
 * gets one of these statuses does not repeat its call.
 */
import type { CallError } from '../bridge/protocol.ts'

/** A request to one of these APIs. */
export interface ModelCall {
  host: string
  /** Its path without the first slash, as the server has it. */
  path: string
  method: string
  /** The server has a model for it. */
  isServed: boolean
}

interface ApiFailure {
  status: number
  code: string
  message: string
  /** The kind of error at Anthropic and OpenAI, and at Google. */
  type: string
  googleStatus: string
}

function failed(host: string, { status, code, message, type, googleStatus }: ApiFailure): Response {
  const error =
    host === 'generativelanguage.googleapis.com'
      ? { error: { code: status, message, status: googleStatus } }
      : host === 'api.anthropic.com'
        ? { type: 'error', error: { type, message } }
        : { error: { message, type, param: null, code } }
  return Response.json(error, { status })
}

/** Returns the response that an API gives to a client without a permission. */
export const deniedResponse = ({ host }: ModelCall, { code, message }: CallError): Response =>
  failed(host, {
    status: code === 'offline' ? 503 : 403,
    code,
    message,
    type: 'permission_error',
    googleStatus: 'PERMISSION_DENIED',
  })

/** The models that pages choose from. Every other name is one of these, too. */
const tiers = ['default', 'quick', 'complex']
const created = 1_767_225_600

const modelOf: Record<string, (id: string) => object> = {
  'api.openai.com': (id) => ({ id, object: 'model', created, owned_by: 'service' }),
  'api.anthropic.com': (id) => ({
    type: 'model',
    id,
    display_name: id,
    created_at: new Date(created * 1_000).toISOString(),
  }),
  'generativelanguage.googleapis.com': (id) => ({
    name: `models/${id}`,
    displayName: id,
    inputTokenLimit: 32_768,
    outputTokenLimit: 8_192,
    supportedGenerationMethods: ['generateContent', 'streamGenerateContent'],
  }),
}

const listOf: Record<string, (models: object[]) => object> = {
  'api.openai.com': (data) => ({ object: 'list', data }),
  'api.anthropic.com': (data) => ({
    data,
    has_more: false,
    first_id: tiers.at(0),
    last_id: tiers.at(-1),
  }),
  'generativelanguage.googleapis.com': (models) => ({ models }),
}

/** Responds to a call that no model serves: with a list of models, one of them, or an error. */
export function respondDirectly({ host, path, method }: ModelCall): Response {
  const [found, id] = /^v1(?:beta|alpha)?\/models(?:\/([^/:]+))?$/.exec(path) ?? []
  const describe = modelOf[host]
  if (method.toUpperCase() === 'GET' && found !== undefined && describe) {
    const all = tiers.map(describe)
    return Response.json(id === undefined ? listOf[host]?.(all) : describe(decodeURIComponent(id)))
  }
  return failed(host, {
    status: 404,
    code: 'not_found',
    message: `${method} /${path} is not available to apps. They have chats, images, speech and transcriptions.`,
    type: 'not_found_error',
    googleStatus: 'NOT_FOUND',
  })
}
