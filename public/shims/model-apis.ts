/**
 * The APIs of models, called without a key: fetch and XMLHttpRequest to Anthropic, OpenAI and
 * Google, also by the SDKs of these. Claude artifacts and Gemini canvas let pages do so.
 * Sources: https://platform.claude.com/docs/en/api/messages,
 * https://platform.openai.com/docs/api-reference, https://ai.google.dev/api (November 2026).
 */
import { createAiFetch, type ModelBody } from '../bridge/ai-fetch.ts'
import { openBridge } from '../bridge/bridge.ts'
import { CallError } from '../bridge/protocol.ts'
import { put } from '../frame/quiet.ts'
import { shellAbove } from '../frame/shell-window.ts'
import './gemini-globals.ts'
import { asArray, callMedia } from './gemini-media.ts'
import { replaceXhr } from './model-xhr.ts'
import { drawImages } from './openai-images.ts'

const depth = Number(document.currentScript?.dataset['depth'])
const fetchModel = createAiFetch(openBridge(shellAbove(depth)))

/** The hosts of these APIs, with the paths that the server has a model for. */
const hosts: Record<string, RegExp> = {
  'api.anthropic.com': /^v1\/messages$/,
  'api.openai.com':
    /^v1\/(?:chat\/completions|responses|images\/generations|audio\/(?:speech|transcriptions))$/,
  'generativelanguage.googleapis.com':
    /^v1beta\/models\/[\w.-]+:(?:generateContent|streamGenerateContent|predict)$/,
}

/** Returns the path of a call of a model; undefined for every other request. */
function modelPath(method: string, given: string): string | undefined {
  if (method.toUpperCase() !== 'POST' || !given.includes('://')) return undefined
  const url = URL.parse(given)
  // The older version of Google's API has the same methods.
  const path = url?.pathname.slice(1).replace(/^v1(?=\/models\/)/, 'v1beta') ?? ''
  if (!url || !hosts[url.host]?.test(path)) return undefined
  return url.searchParams.get('alt') === 'sse' ? `${path}?alt=sse` : path
}

/** Returns the body of a request. WebKit does not read the files of a form back. */
async function bodyOf(request: Request, given: unknown): Promise<ModelBody> {
  if (!/^multipart\//.test(request.headers.get('content-type') ?? '')) {
    return { body: await request.text() }
  }
  const form = given instanceof FormData ? given : await request.formData()
  const fields: [string, string | Blob][] = []
  form.forEach((value, name) => fields.push([name, value]))
  return { form: fields }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    // The server says what is wrong.
    return undefined
  }
}

/** Returns the response that an API gives to a client without a permission. */
function deniedResponse(path: string, { code, message }: CallError): Response {
  const status = code === 'offline' ? 503 : 403
  const type = 'permission_error'
  const error = path.startsWith('v1beta')
    ? { error: { code: status, message, status: 'PERMISSION_DENIED' } }
    : path === 'v1/messages'
      ? { type: 'error', error: { type, message } }
      : { error: { message, type, param: null, code } }
  return Response.json(error, { status })
}

/** Sends a request to a model, and returns its response or that of a denied client. */
async function send(path: string, request: Request, given?: unknown): Promise<Response> {
  const { signal } = request
  try {
    const body = await bodyOf(request, given)
    if (path.startsWith('v1beta') && 'body' in body) {
      const made = await callMedia(path, { fetchModel, body: parsed(body.body), signal })
      if (made) return made
    }
    if (path.endsWith(':streamGenerateContent')) {
      return asArray(await fetchModel(`${path}?alt=sse`, body, signal))
    }
    if (path === 'v1/images/generations') return await drawImages(fetchModel, body, signal)
    return await fetchModel(path, body, signal)
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (error instanceof CallError) return deniedResponse(path, error)
    throw error
  }
}

const realFetch = window.fetch.bind(window)
const RealRequest = window.Request

const urlOf = (input: unknown): string => (input instanceof RealRequest ? input.url : String(input))
const methodOf = (input: unknown, init?: RequestInit): string =>
  init?.method ?? (input instanceof RealRequest ? input.method : 'GET')

put(window, 'fetch', (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
  const path = modelPath(methodOf(input, init), urlOf(input))
  if (path === undefined) return realFetch(input, init)
  return send(path, new RealRequest(input, init), init?.body)
})
replaceXhr(modelPath, send)
