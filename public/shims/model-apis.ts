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
import { deniedResponse, type ModelCall, respondDirectly } from './model-responses.ts'
import { replaceXhr } from './model-xhr.ts'
import { drawImages } from './openai-images.ts'

const depth = Number(document.currentScript?.dataset['depth'])
const fetchModel = createAiFetch(openBridge(shellAbove(depth)), { isFetch: true })

/** The hosts of these APIs, with the paths that the server has a model for. */
const hosts: Record<string, RegExp> = {
  'api.anthropic.com': /^v1\/messages$/,
  'api.openai.com':
    /^v1\/(?:chat\/completions|responses|images\/(?:generations|edits)|audio\/(?:speech|transcriptions))$/,
  'generativelanguage.googleapis.com':
    /^v1beta\/models\/[\w.-]+:(?:generateContent|streamGenerateContent|predict)$/,
}

/** Finds the call of an API in a request; undefined for a request to any other host. */
function findCall(method: string, given: string): ModelCall | undefined {
  const url = given.includes('://') ? URL.parse(given) : undefined
  const served = url && Object.hasOwn(hosts, url.host) ? hosts[url.host] : undefined
  if (!url || !served) return undefined
  // Other versions of Google's API have the same methods.
  const path = url.pathname.slice(1).replace(/^v1(?:alpha)?(?=\/models\/)/, 'v1beta')
  const isServed = method.toUpperCase() === 'POST' && served.test(path)
  const query = url.searchParams.get('alt') === 'sse' ? '?alt=sse' : ''
  return { host: url.host, path: path + (isServed ? query : ''), method, isServed }
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

/** Sends a request to a model, and returns its response or that of a denied client. */
async function send(call: ModelCall, request: Request, given?: unknown): Promise<Response> {
  const { signal } = request
  const { path } = call
  if (!call.isServed) return respondDirectly(call)
  try {
    const body = await bodyOf(request, given)
    if (path.startsWith('v1beta') && 'body' in body) {
      const made = await callMedia(path, { fetchModel, body: parsed(body.body), signal })
      if (made) return made
    }
    if (path.endsWith(':streamGenerateContent')) {
      return asArray(await fetchModel(`${path}?alt=sse`, body, signal))
    }
    if (path.startsWith('v1/images/')) return await drawImages(fetchModel, path, body, signal)
    return await fetchModel(path, body, signal)
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (error instanceof CallError) return deniedResponse(call, error)
    throw error
  }
}

const realFetch = window.fetch.bind(window)
const RealRequest = window.Request

const urlOf = (input: unknown): string => (input instanceof RealRequest ? input.url : String(input))
const methodOf = (input: unknown, init?: RequestInit): string =>
  init?.method ?? (input instanceof RealRequest ? input.method : 'GET')

put(window, 'fetch', (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
  const call = findCall(methodOf(input, init), urlOf(input))
  if (!call) return realFetch(input, init)
  return send(call, new RealRequest(input, init), init?.body)
})
replaceXhr(findCall, send)
