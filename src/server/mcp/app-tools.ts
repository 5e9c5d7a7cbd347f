import type { CallToolResult, Tool as Definition } from '@modelcontextprotocol/server'
import { type Static, type TObject, Type } from '@sinclair/typebox'

import { callModel } from '../../apps/ai/routes.ts'
import { getDataCaller } from '../../apps/app-data/players.ts'
import { agentApiUrl } from '../../apps/kinds.ts'
import type { Pages } from '../../apps/viewer/pages.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import type { Operation, Sender } from '../../kernel/http/operation.ts'
import { decodePath, encodePath } from '../../kernel/http/path.ts'
import { type RequestContext, setRequestContext } from '../../kernel/http/request-context.ts'
import { createValidator } from '../../kernel/http/validation.ts'
import { type Json, oneOf, strictObject } from '../../kernel/schema.ts'
import { perform } from '../../money/perform.ts'
import { getChatPlayer } from '../../people/session-user.ts'
import { type CallContext, keyHeaders, runTool } from './call.ts'
import { openApp, type Reader, viewPasses, viewTool } from './views.ts'

const id = Type.String({ minLength: 1, maxLength: 40, description: 'The app.' })
const key = Type.Optional(Type.String({ description: 'The key of the agent that plays.' }))
const pass = Type.String({ maxLength: 64, description: 'The pass of the view of the app.' })
const OpenSchema = strictObject({ id, key })
const DataSchema = strictObject({
  id,
  key,
  pass,
  method: oneOf(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  path: Type.String({
    pattern: '^/',
    maxLength: 4_000,
    description: 'The path below the app: "/value/own".',
  }),
  body: Type.Optional(Type.Unknown()),
})
const ModelSchema = strictObject({
  id,
  key,
  pass,
  path: Type.String({ maxLength: 200, description: 'The path of a model: "v1/messages".' }),
  body: Type.String({ description: 'The body as JSON text.' }),
})

/** A tool that views call for their apps, and that hosts hide from models. */
export interface AppTool {
  definition: Definition
  call(args: Json, context: CallContext): Promise<CallToolResult>
}

interface Parts {
  pages: Pages
  operations: readonly Operation[]
}

/** Creates the tools of views: for the page of an app, its data, and the models that it uses. */
export function createAppTools(ctx: AppContext, { pages, operations }: Parts): AppTool[] {
  const ofApps = operations.filter(({ mcp }) => mcp === 'app')
  return [
    toolOf('open_app_page', 'Read the page of an app, for its view.', OpenSchema, {
      readOnlyHint: true,
      // The page is in the structured content. A second time, it would double the message.
      note: 'The page of the app is for its view.',
      run: (inner, { headers, args }) => openApp(ctx, pages, args.id, { headers, context: inner }),
    }),
    toolOf('use_app_data', 'Pass on a call of an app that keeps data.', DataSchema, {
      run: async (inner, call) => {
        await checkPass(ctx, call.args, { headers: call.headers, context: inner })
        return performForApp(ctx, ofApps, inner, call)
      },
    }),
    toolOf('use_app_model', 'Pass on a call of an app to a model.', ModelSchema, {
      run: async (inner, call) => {
        await checkPass(ctx, call.args, { headers: call.headers, context: inner })
        return callModelForApp(ctx, inner, call)
      },
    }),
  ]

  function toolOf<Schema extends TObject>(
    name: string,
    description: string,
    schema: Schema,
    { run, note, readOnlyHint = false }: AppToolWork<Static<Schema>>,
  ): AppTool {
    const read = createValidator(schema)
    const inputSchema = JSON.parse(JSON.stringify(schema))
    const annotations = { readOnlyHint, destructiveHint: !readOnlyHint }
    return {
      definition: { name, description, inputSchema, annotations, _meta: viewTool },
      async call(args, context) {
        const method = readOnlyHint || args['method'] === 'GET' ? 'GET' : 'POST'
        const result = await runTool(
          ctx,
          { method, path: `/apps/:id/${name}` },
          context,
          async (inner) => {
            const headers = new Headers(keyHeaders(context.mcpRequest, args))
            return run(inner, { headers, signal: context.signal, args: read(args) })
          },
        )
        if (note === undefined || result.isError) return result
        return { ...result, content: [{ type: 'text', text: note }] }
      },
    }
  }
}

/** Lets a view call for the app that it shows alone. Throws `not_found`. */
async function checkPass(
  ctx: AppContext,
  { id: app, pass: given }: { id: string; pass: string },
  reader: Reader,
): Promise<void> {
  const passes = await viewPasses(ctx, app, reader)
  if (!passes.includes(given)) throw new ApiError('not_found', { what: 'view of this app' })
}

/** A call of a view: the headers with the key of its chat, and its arguments. */
interface AppCall<Args> {
  headers: Headers
  signal: AbortSignal
  args: Args
}

interface AppToolWork<Args> {
  readOnlyHint?: boolean
  /** The text of a result, instead of its value. */
  note?: string
  run(inner: RequestContext, call: AppCall<Args>): Promise<unknown>
}

/** Performs the operation of a path below an app, as the agent of the chat. */
async function performForApp(
  ctx: AppContext,
  operations: readonly Operation[],
  context: RequestContext,
  { headers, signal, args }: AppCall<Static<typeof DataSchema>>,
): Promise<unknown> {
  const { method, body } = args
  const url = URL.parse(`https://app.invalid${args.path}`)
  const [operation, params] = findOperation(operations, method, url?.pathname ?? '')
  const caller = await getDataCaller(ctx, { method, headers, context }, operation)
  return perform(ctx, operation, {
    method,
    headers,
    context,
    signal,
    caller,
    resource: agentApiUrl(ctx, `/api/apps/${encodePath(args.id)}`),
    params: { ...params, id: args.id },
    query: Object.fromEntries(url?.searchParams ?? []),
    source: { value: body },
  })
}

/** Finds the operation of a path below an app, with its parameters. Throws `not_found`. */
function findOperation(
  operations: readonly Operation[],
  method: string,
  path: string,
): [Operation, Record<string, string | null>] {
  for (const operation of operations) {
    const names = operation.path.replace('/apps/:id', '').split('/')
    const parts = path.split('/')
    const isSame =
      operation.method === method &&
      names.length === parts.length &&
      names.every((name, at) => name.startsWith(':') || name === parts[at])
    if (!isSame) continue
    const params = names.flatMap((name, at) =>
      name.startsWith(':') ? [[name.slice(1), decodePath(parts[at] ?? '')] as const] : [],
    )
    return [operation, Object.fromEntries(params)]
  }
  throw new ApiError('not_found', { what: 'call of an app' })
}

/** A call of a model, which the agent of the chat pays. */
const modelCall = { method: 'POST', errors: [], scope: 'spend' as const }

/** Calls a model for an app, as the agent of the chat. Errors are responses, as a page expects. */
async function callModelForApp(
  ctx: AppContext,
  context: RequestContext,
  { headers, signal, args: { id: app, path, body } }: AppCall<Static<typeof ModelSchema>>,
): Promise<unknown> {
  headers.set('content-type', 'application/json')
  const url = `${ctx.urls.app}/a/${encodePath(app)}/ai/${path}`
  const request = new Request(url, { method: 'POST', headers, body, signal })
  setRequestContext(request, context)
  const [route = ''] = path.split('?')
  const identify = (inner: AppContext, sender: Sender) => getChatPlayer(inner, sender, modelCall)
  const response = await callModel(ctx, request, { id: app, path: route }, identify)
  const type = response.headers.get('content-type') ?? ''
  const bytes = Buffer.from(await response.arrayBuffer())
  return {
    status: response.status,
    type,
    cost: response.headers.get('x-service-cost') ?? '',
    code: response.headers.get('x-service-code') ?? '',
    ...(/^text\/|json/.test(type)
      ? { text: bytes.toString() }
      : { blob: bytes.toString('base64') }),
  }
}
