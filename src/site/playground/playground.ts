/**
 * The playground: its page, the chat of the form without scripts, and the calls that a session pays
 * for. A page of the site is one file, so this is a long one.
 */
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { demoBuilder } from '../../apps/model-call.ts'
import { spenderOf } from '../../gateway/authentication.ts'
import * as catalog from '../../gateway/catalog/catalog.ts'
import type { ModelResponse } from '../../gateway/catalog/catalog.ts'
import { errorEnvelope, findEnvelope, isGatewayError } from '../../gateway/error-response.ts'
import { isTimed } from '../../gateway/models/price.ts'
import { countPaidCall, getOperation, performPaid } from '../../gateway/session-calls.ts'
import { findHistory, type UsageRow } from '../../gateway/usage/operations.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError, type GatewayErrorName, isApiError, rejectRequest } from '../../kernel/errors.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import type { IncomingCall, Operation } from '../../kernel/http/operation.ts'
import { getRequestContext } from '../../kernel/http/request-context.ts'
import { errorResponse, toResponse } from '../../kernel/http/response.ts'
import { sha256 } from '../../kernel/ids.ts'
import {
  fileBytesMax,
  imagesPerRequestMax,
  playBytesMax,
  playModelsMax,
  playTurnsMax,
  promptCharsMax,
  videoSecondsMax,
} from '../../kernel/limits.ts'
import { formatCredits, fromUsd, toCredits, toUsd, zero } from '../../kernel/money.ts'
import { isRecord, oneOf, strictObject } from '../../kernel/schema.ts'
import { msg, t, type Text } from '../../kernel/words/message.ts'
import { accountOf, type Owner } from '../../money/ledger/accounts.ts'
import * as ledger from '../../money/ledger/ledger.ts'
import { openMethods } from '../../money/payments/coins/method.ts'
import { walletOf } from '../../people/people.ts'
import { checkSite } from '../../people/session-user.ts'
import { trail, withQuery } from '../components.ts'
import {
  formatAmount,
  formatDuration,
  formatExactCount,
  formatNumber,
  formatUsd,
  shortCredits,
} from '../format.ts'
import { alert, button, type Form, hiddenField, postForm, selectField, textArea } from '../forms.ts'
import type { Layout, Page } from '../layout.ts'
import { emptyState } from '../lists.ts'
import { type Mode, modeOf, modes } from '../models/modes.ts'
import { modeNames, shortPrice } from '../models/parts.ts'
import { renderFile } from '../packs/markdown.ts'
import { modelsPath, playgroundPath } from '../paths.ts'
import {
  pageRoutes,
  privatePage,
  requireUser,
  userForm,
  userPage,
  type UserRequest,
} from '../session.ts'

/** A parameter of a request by its name in the API. Numbers have a range. */
interface Parameter {
  name: string
  label: Text
  hint?: Text
  min?: number
  max?: number
  step?: number | 'any'
  options?: readonly (readonly [value: string, label: Text])[]
}

/** The number parameters of a chat, which the form without scripts sends too. */
const chatNumbers = [
  {
    name: 'max_tokens',
    label: msg('Max tokens'),
    hint: msg('Limits the length and the maximum cost.'),
    min: 1,
    step: 1,
  },
  { name: 'temperature', label: msg('Temperature'), min: 0, max: 2, step: 'any' },
  { name: 'top_p', label: msg('Top P'), min: 0, max: 1, step: 'any' },
  { name: 'seed', label: msg('Seed'), min: 0, step: 1 },
] as const satisfies Parameter[]

const plain = (values: string[]) => values.map((value) => [value, value] as const)
const byDefault = ['', msg('Default')] as const

const parameters: Record<Mode, Parameter[]> = {
  chat: [
    ...chatNumbers,
    {
      name: 'reasoning_effort',
      label: msg('Reasoning effort'),
      options: [byDefault, ['low', msg('Low')], ['medium', msg('Medium')], ['high', msg('High')]],
    },
  ],
  image: [
    {
      name: 'size',
      label: msg('Size'),
      options: [byDefault, ...plain(['512x512', '1024x1024', '1024x1536', '1536x1024'])],
    },
    { name: 'n', label: msg('Images'), min: 1, max: imagesPerRequestMax, step: 1 },
    { name: 'negative_prompt', label: msg('Negative prompt') },
  ],
  video: [
    { name: 'aspect_ratio', label: msg('Aspect ratio'), options: plain(['16:9', '9:16', '1:1']) },
    { name: 'duration', label: msg('Seconds'), min: 1, max: videoSecondsMax, step: 1 },
  ],
  speech: [
    { name: 'voice', label: msg('Voice'), hint: msg('The voices depend on the model.') },
    {
      name: 'response_format',
      label: msg('Format'),
      options: plain(['mp3', 'wav', 'opus', 'flac']),
    },
  ],
  transcription: [
    { name: 'language', label: msg('Language'), hint: msg('A code such as en or de.') },
  ],
  embedding: [{ name: 'dimensions', label: msg('Dimensions'), min: 1, step: 1 }],
}

function parameterField({ name, label, hint, options, ...range }: Parameter, value = ''): Html {
  if (options) return selectField({ label, name, value, options })
  const isNumber = range.step !== undefined
  const limits =
    isNumber &&
    html` min="${range.min}"${range.max !== undefined && html` max="${range.max}"`}
    step="${range.step}" inputmode="decimal"`
  return html`<label class="field"
    ><span>${label}</span>${hint !== undefined && html`<span class="hint">${hint}</span>`}<input
      type="${isNumber ? 'number' : 'text'}"
      name="${name}"
      value="${value}"
      ${limits}${!isNumber && html` maxlength="${promptCharsMax}"`}
      ${isNumber && html` placeholder="Default"`}
      autocomplete="off"
  /></label>`
}

/**
 * The parameters of every kind of request. Without scripts only those of a chat are visible; the
 * script shows those of the selected model.
 */
function parameterPanel(system: string, values: Record<string, string>): Html {
  const fieldset = (mode: Mode): Html =>
    html`<fieldset data-mode="${mode}" ${mode !== 'chat' && html` hidden disabled`}>
      <legend class="visually-hidden">Parameters</legend>
      ${mode === 'chat' && textArea({ label: t('System prompt'), name: 'system', value: system, max: promptCharsMax })}
      <div class="parameter-grid">
        ${parameters[mode].map((one) => parameterField(one, values[one.name] ?? defaults[mode]?.[one.name]))}
      </div>
    </fieldset>`
  return html`${modes.map(fieldset)}`
}

/** Values that models need, or that keep a first request cheap. */
const defaults: Partial<Record<Mode, Record<string, string>>> = {
  video: { duration: '4' },
  speech: { voice: 'alloy' },
}

/** A message of a conversation. `summary` summarizes the tokens and cost of a reply. */
const Turn = strictObject({
  role: oneOf(['user', 'assistant']),
  content: Type.String(),
  summary: Type.Optional(Type.String()),
})
type Turn = Static<typeof Turn>
const TurnsSchema = Type.Array(Turn, { maxItems: playTurnsMax })

/** The submitted form of a chat without scripts. `turns` is undefined when it is malformed. */
interface ChatDraft {
  model: string
  system: string
  /** The parameters of the chat as typed, by name. */
  parameters: Record<string, string>
  turns: Turn[] | undefined
  text: string
}

/** Limits the hold of a first request. */
const tokensDefault = '1024'

const emptyDraft = (model: string): ChatDraft => ({
  model,
  system: '',
  parameters: { max_tokens: tokensDefault },
  turns: [],
  text: '',
})

const parameterNames = [...chatNumbers.map(({ name }) => name), 'reasoning_effort']

const readDraft = (form: Form): ChatDraft => ({
  model: form.text('model'),
  system: form.text('system'),
  parameters: Object.fromEntries(parameterNames.map((name) => [name, form.text(name).trim()])),
  turns: parseTurns(form.text('turns')),
  text: form.text('text'),
})

function parseTurns(text: string): Turn[] | undefined {
  try {
    const turns: unknown = JSON.parse(text)
    return Value.Check(TurnsSchema, turns) ? turns : undefined
  } catch {
    return undefined
  }
}

/** Creates a chat request (document 2, POST /chat/completions). Throws `bad_request`. */
function chatRequest({ model, system, parameters, turns, text }: ChatDraft) {
  if (!turns || turns.length > playTurnsMax - 2) {
    rejectRequest(
      t('A conversation can have at most {playTurnsMax} messages. Start a new conversation.', {
        playTurnsMax,
      }),
    )
  }
  const history = turns.map(({ role, content }) => ({ role, content }))
  const messages = [
    ...(system.trim() === '' ? [] : [{ role: 'system', content: system }]),
    ...history,
    { role: 'user', content: text },
  ]
  return { model, messages, ...readParameters(parameters) }
}

function readParameters(parameters: ChatDraft['parameters']): Record<string, unknown> {
  const { max_tokens = '', reasoning_effort } = parameters
  const limit = Number(max_tokens)
  if (max_tokens !== '' && !(Number.isSafeInteger(limit) && limit > 0)) {
    rejectRequest(t('Enter a whole number of max tokens, 1 or more.'))
  }
  const numbers = chatNumbers.flatMap(({ name, label }) => {
    const text = parameters[name] ?? ''
    if (text === '') return []
    if (!Number.isFinite(Number(text))) rejectRequest(t('Enter a number in “{label}”.', { label }))
    return [[name, Number(text)] as const]
  })
  return { ...Object.fromEntries(numbers), ...(reasoning_effort && { reasoning_effort }) }
}

/** The demo builder replies with pages only, so that a chat with it returns nothing. */
const isUsable = ({ id, price }: ModelResponse): boolean =>
  id !== demoBuilder && Object.keys(price).length > 0

/** Limits the list of models; it always includes the selected one. */
function listedModels(models: ModelResponse[], selected: string): ModelResponse[] {
  const first = models.slice(0, playModelsMax)
  const named = models.find(({ id }) => id === selected)
  return named && !first.includes(named) ? [named, ...first] : first
}

/** The default: the chat model with the lowest price per output token. */
const cheapestModel = (models: ModelResponse[]): string =>
  models
    .filter(({ type }) => type === 'chat')
    .toSorted((a, b) => Number(a.price.completion) - Number(b.price.completion))[0]?.id ?? ''

function modelField(models: ModelResponse[], selected: string): Html {
  const option = (model: ModelResponse): Html =>
    html`<option
      value="${model.id}"
      ${model.id === selected && html` selected`}
      data-inputs="${model.inputs.join(' ')}"
    >
      ${model.id} · ${shortPrice(model.price)}
    </option>`
  const group = (mode: Mode): Part => {
    const all = models.filter((model) => modeOf(model) === mode)
    return (
      all.length > 0 &&
      html`<optgroup label="${modeNames[mode]}" data-mode="${mode}">${all.map(option)}</optgroup>`
    )
  }
  return html`<label class="field model-field"
    ><span>Model</span
    ><select name="model" required>
      ${modes.map(group)}
    </select></label
  >`
}

/** Replies are Markdown; the messages of a person are plain text. */
async function renderTurn({ role, content, summary }: Turn): Promise<Html> {
  const text =
    role === 'user'
      ? html`<p class="turn-text">${content}</p>`
      : html`<div class="turn-text markdown">
          ${await renderFile(sha256(content), { text: content, path: '', files: [], viewUrl: '', contentUrl: '' })}
        </div>`
  return html`<article class="turn ${role}">
    <h2>${role === 'user' ? t('You') : t('Model')}</h2>
    ${text} ${summary !== undefined && html`<p class="small">${summary}</p>`}
  </article>`
}

const noModels = emptyState(
  msg('No models available'),
  msg('The operator adds models with provider keys and settings.'),
  html`<a class="button quiet" href="/catalogue">Models</a>`,
)

interface PlaygroundView {
  token: string
  /** The ID of the wallet, which names the history in the browser. */
  owner: string
  draft: ChatDraft
  /** A second model to compare with. */
  other: string
  /** The available balance as text. */
  left: string
  message?: string | undefined
}

/**
 * Renders the playground. Without scripts it is a chat whose conversation is stored in its form,
 * and every turn loads the page again. With scripts it has all kinds of models, two models side by
 * side, attachments and a history in the browser.
 */
async function playgroundPage(ctx: AppContext, view: PlaygroundView): Promise<Page> {
  const { token, owner, draft, left, message, other } = view
  const available = catalog.listModels(ctx).filter(isUsable)
  const model = draft.model || cheapestModel(available)
  const models = listedModels(available, model)
  const turns = draft.turns ?? []
  const pane = html`<section class="pane" aria-label="Conversation">
    ${modelField(models, model)}
    <div class="log" role="log" aria-label="Conversation" tabindex="0">
      ${await Promise.all(turns.map(renderTurn))}
    </div>
  </section>`
  const composer = html`<div class="composer prompt-box">
    ${alert(message)}
    ${textArea({ label: t('Message'), name: 'text', value: draft.text, max: promptCharsMax, required: true })}
    <p class="actions">
      ${button(t('Send'))}<a class="button quiet" href="${withQuery(playgroundPath, { model })}"
        >New conversation</a
      ><span class="small left">Wallet: <a href="/wallet" data-left>${left}</a></span>
    </p>
  </div>`
  const settings = html`<details class="settings" open>
    <summary>Parameters</summary>
    ${parameterPanel(draft.system, draft.parameters)}
  </details>`
  const fields = html`${hiddenField('turns', JSON.stringify(turns))}
    <div class="panes">${pane}</div>
    ${composer}${settings}`
  const main = html`${trail([modelsPath, t('Models')])}
    <div class="head title">
      <h1>Playground</h1>
    </div>
    <noscript
      ><p class="small">
        Without scripts, the playground chats in text. Images, audio, files and comparisons need
        scripts.
      </p></noscript
    >
    ${
      models.length > 0
        ? html`<chat-playground
            data-gateway="${ctx.urls.gateway}"
            data-owner="${owner}"
            data-other="${other}"
            data-file-bytes="${fileBytesMax}"
            >${postForm(token, playgroundPath, fields, 'playground')}</chat-playground
          >`
        : noModels
    }`
  return {
    title: t('Playground'),
    main,
    section: playgroundPath,
    isWide: true,
    styles: ['playground.css'],
    scripts: ['copy-line.js', 'chat-playground.js'],
  }
}

/** Returns a message in credits and form labels; those of the API are in USD and field names. */
function messageOf(ctx: AppContext, error: ApiError<GatewayErrorName>): string {
  if (isApiError(error, 'not_enough_credits')) {
    const [{ needed, available }] = error.details
    const amounts = { needed: formatCredits(needed), available: formatCredits(available) }
    return openMethods(ctx.config).length > 0
      ? t(
          'This request can cost up to {needed} credits and your wallet has {available}. Nothing was charged. Lower “Max tokens” or add credits in your wallet.',
          amounts,
        )
      : t(
          'This request can cost up to {needed} credits and your wallet has {available}. Nothing was charged. Lower “Max tokens”, or ask the operator of this server for credits.',
          amounts,
        )
  }
  if (isApiError(error, 'no_model')) {
    const [{ model }] = error.details
    return t('The model {model} is not available. Choose another model.', {
      model: model.slice(0, 100),
    })
  }
  return errorEnvelope(error).body.error.message
}

function callErrorResponse(ctx: AppContext, error: ApiError<GatewayErrorName>): Response {
  const { body, ...reply } = errorEnvelope(error)
  const message = messageOf(ctx, error)
  return errorResponse({ ...reply, body: { error: { ...body.error, message } } })
}

/**
 * Performs an operation that the person's wallet pays for. Returns errors as gateway responses with
 * messages for people.
 */
async function performForPerson(
  { ctx, request, visitor }: UserRequest,
  operation: Operation,
  call: Pick<IncomingCall, 'params' | 'source'>,
): Promise<Response> {
  try {
    countPaidCall(ctx, request)
    const spender = spenderOf(walletOf(visitor.person))
    return toResponse(ctx, request, await performPaid(ctx, request, spender, operation, call))
  } catch (error) {
    if (isGatewayError(error)) return callErrorResponse(ctx, error)
    const known = findEnvelope(error)
    if (!known) throw error
    return errorResponse(known)
  }
}

/** Runs a chat completion (document 2) of the form without scripts. */
async function runChat(req: UserRequest, body: object): Promise<Response> {
  const operation = await getOperation('POST', '/chat/completions')
  return performForPerson(req, operation, { params: {}, source: { value: body } })
}

/** The header with the token of the page's form. Other sites cannot set it. */
const tokenHeader = 'x-form-token'

/**
 * Runs an operation of the gateway with the body of the API, paid by the session: the token of the
 * form is in a header (docs/decisions/0083). Throws `cross_site`, `not_found`.
 */
async function callGateway(req: UserRequest, path: string): Promise<Response> {
  checkSite(req.ctx, req.request)
  const given = req.request.headers.get(tokenHeader) ?? ''
  if (sha256(given) !== sha256(req.token)) {
    return Response.json(
      { error: { message: t('This page expired. Reload it.') } },
      { status: 403 },
    )
  }
  const operation = await getOperation('POST', `/${path}`)
  return performForPerson(req, operation, { params: {}, source: { request: req.request } })
}

/** Returns the video of a wallet (document 2, GET /v1/videos/{id}). */
async function readVideo(req: UserRequest, id: string): Promise<Response> {
  const operation = await getOperation('GET', '/videos/:id')
  const response = await performForPerson(req, operation, {
    params: { id },
    source: { value: undefined },
  })
  response.headers.set('cache-control', 'no-store')
  return response
}

/** The number of requests to search for the one that just ended. */
const recentRequestsMax = 100

/** The summary of a request and the balance after it. */
interface RequestSummary {
  summary: string
  /** The exact cost, for a tooltip. */
  exact: string
  left: string
}

/** Summarizes a request of a wallet once it is settled. */
async function findRequestSummary(
  ctx: AppContext,
  owner: Owner,
  requestId: string,
): Promise<RequestSummary | undefined> {
  const { data } = await findHistory(ctx, accountOf(owner), { page_count: recentRequestsMax })
  const use = data.find(({ request_id }) => request_id === requestId)
  if (!use) return undefined
  const amount = fromUsd(use.price_in_usd.toFixed(9)) ?? zero
  const words = [
    `${countedUnits(ctx, use)}${use.estimated ? ' (estimated)' : ''}`,
    formatAmount(toCredits(amount), 'credit'),
    formatDuration(use.ms),
    ...(use.status === 'interrupted' ? ['stopped'] : []),
    ...(use.status === 'failed' ? ['failed'] : []),
  ]
  return {
    summary: words.join(' · '),
    exact: t('{amount} credits, {toUsd}', {
      amount: formatCredits(amount),
      toUsd: formatUsd(toUsd(amount)),
    }),
    left: formatBalance(await ledger.balanceOf(ctx, owner)),
  }
}

/** Names the counts of a request by the units that its model charges. */
function countedUnits({ catalog }: AppContext, { model, input_count, output_count }: UsageRow) {
  const { price, type } = catalog.find(model)?.model ?? {}
  if (type === 'image' && price?.perImage !== undefined)
    return formatExactCount(output_count, 'image')
  if (type === 'audio' && price?.perCharacter !== undefined)
    return formatExactCount(input_count, 'character')
  if (price && isTimed(price)) return formatExactCount(input_count, 'second')
  if (type === 'embedding') return formatExactCount(input_count, 'token')
  return t('{input_count} tokens in, {output_count} out', {
    input_count: formatNumber(input_count),
    output_count: formatNumber(output_count),
  })
}

const formatBalance = ({ available }: { available: bigint }): string =>
  t('{available} credits', { available: shortCredits(toCredits(available)) })

const ownerOf = ({ visitor }: UserRequest) => walletOf(visitor.person)

async function getPlaygroundPage(
  req: UserRequest,
  draft: ChatDraft,
  message?: string,
): Promise<Page> {
  const { ctx, token, query, layout } = req
  const wallet = ownerOf(req)
  const { owner } = wallet
  const left = formatBalance(await ledger.balanceOf(ctx, wallet))
  const other = query.get('with') ?? ''
  const page = await playgroundPage(ctx, { token, owner, draft, other, left, message })
  return { ...page, headers: mediaHeaders(ctx, layout) }
}

/** Returns the policy of the page, which also shows images and sounds that its script creates. */
function mediaHeaders({ urls }: AppContext, { headers }: Layout): Record<string, string> {
  const policy = headers['content-security-policy'] ?? ''
  const sources = `blob: ${new URL(urls.gateway).origin}`
  return {
    'content-security-policy': policy.replace(/(img|media)-src [^;]+/g, `$& ${sources}`),
  }
}

/** Runs a chat turn without JavaScript and renders the page with its result or error. */
async function completeTurn(req: UserRequest, draft: ChatDraft): Promise<Page> {
  const response = await runChat(req, chatRequest(draft))
  const body: unknown = await response.json()
  if (!response.ok) {
    const error = isRecord(body) && isRecord(body.error) ? body.error.message : undefined
    const wait = response.headers.get('retry-after')
    const page = await getPlaygroundPage(req, draft, String(error))
    const headers = { ...page.headers, ...(wait && { 'retry-after': wait }) }
    return { ...page, status: response.status, headers }
  }
  const requestId = getRequestContext(req.request).id
  const { summary } = (await findRequestSummary(req.ctx, ownerOf(req), requestId)) ?? {}
  const question = { role: 'user', content: draft.text } as const
  const reply = {
    role: 'assistant',
    content: messageText(body),
    ...(summary && { summary }),
  } as const
  const turns = [...(draft.turns ?? []), question, reply]
  return getPlaygroundPage(req, { ...draft, text: '', turns })
}

/** Returns the text of a chat completion. */
function messageText(body: unknown): string {
  const [choice]: unknown[] = isRecord(body) && Array.isArray(body.choices) ? body.choices : []
  const message = isRecord(choice) ? choice.message : undefined
  return isRecord(message) && typeof message.content === 'string' ? message.content : ''
}

/** The model has its own deadline. */
const ownDeadline = {
  transform: ({ request }: { request: Request }) => {
    getRequestContext(request).hasOwnDeadline = true
  },
}

/** The playground: a page, its chat without scripts, and the gateway paid by the session. */
export function playgroundRoutes(ctx: AppContext, layout: Layout) {
  return pageRoutes(ctx, layout)
    .get(playgroundPath, ({ input }) =>
      userPage(input, (req) => getPlaygroundPage(req, emptyDraft(req.query.get('model') ?? ''))),
    )
    .post(
      playgroundPath,
      ({ input }) =>
        userForm(
          input,
          async (req, form) => privatePage(req, await completeTurn(req, readDraft(form))),
          (req, message, form) => getPlaygroundPage(req, readDraft(form), message),
          { bytesMax: playBytesMax },
        ),
      ownDeadline,
    )
    .post(
      `${playgroundPath}/v1/*`,
      ({ input, params }) => requireUser(input, (req) => callGateway(req, params['*'])),
      ownDeadline,
    )
    .get(`${playgroundPath}/v1/videos/:id`, ({ input, params }) =>
      requireUser(input, (req) => readVideo(req, params.id)),
    )
    .get(`${playgroundPath}/:request`, ({ input, params }) =>
      requireUser(input, async (req) => {
        const summary = await findRequestSummary(ctx, ownerOf(req), params.request)
        if (summary) return Response.json(summary, { headers: { 'cache-control': 'no-store' } })
        throw new ApiError('not_found', { what: 'request', see: t('Usage lists all requests.') })
      }),
    )
}
