/**
 * The page of a new app: its prompt, its page, and the draft that waits for an account. A page of
 * the site is one file, so this is a long one.
 */
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import * as apps from '../../apps/apps.ts'
import { type BuilderKind, builderKind, whyDeclined } from '../../apps/builds/budget.ts'
import { findBuild, findUsualPrice, quoteBuild } from '../../apps/builds/builds.ts'
import { decodePage } from '../../apps/folders/charset.ts'
import { pageZipLimits } from '../../apps/folders/limits.ts'
import { isZip } from '../../apps/folders/unzip.ts'
import * as operations from '../../apps/operations.ts'
import { listActingAgents } from '../../apps/owners/owned-agents.ts'
import { readyMadePages } from '../../gateway/providers/demo/builder/prompt-analysis.ts'
import type { AppContext } from '../../kernel/context.ts'
import { rejectRequest } from '../../kernel/errors.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { newId, sign } from '../../kernel/ids.ts'
import {
  buildPromptCharsMax,
  draftFormBytesMax,
  draftHtmlBytesMax,
  formBytesMax,
  htmlBytesMax,
  titleCharsMax,
} from '../../kernel/limits.ts'
import { oneOf, recordOf } from '../../kernel/schema.ts'
import { msg, t } from '../../kernel/words/message.ts'
import type { Agent } from '../../people/agents/agents.ts'
import { checkSite } from '../../people/session-user.ts'
import { copyLine, searchTerm, segments } from '../components.ts'
import { form, performAs } from '../form.ts'
import { formatAmount, formatBytes, formatNumber, shortCredits } from '../format.ts'
import {
  button,
  fileField,
  type Form,
  hiddenField,
  inputField,
  postForm,
  readForm,
  readRef,
  selectField,
  textArea,
} from '../forms.ts'
import type { Layout, Page } from '../layout.ts'
import {
  actingAgent,
  getPageRequest,
  handleForm,
  type PageInput,
  type PageRequest,
  pageRoutes,
  payingField,
  privatePage,
  redirectTo,
  type UserRequest,
} from '../session.ts'
import { renderSignIn, renderSignUp } from '../sign-in/sign-in.ts'
import { appPreview } from '../studio/preview.ts'

/** A prompt that makes an agent publish its first app. */
export const agentPrompt = ({ urls }: AppContext): Html =>
  html`Read <bdi>${urls.app}/skill.md</bdi>, then make me a small game and give me its link.`

const ways = ['page', 'describe', 'remix', 'agent'] as const
type Way = (typeof ways)[number]

/** The prompt with which an agent makes an app by itself. */
const agentWay = (ctx: AppContext): Html =>
  html`<p>
      It writes the page with its own model, publishes it and gives you the link. No account or
      email needed: it creates its own API key. Give it this prompt:
    </p>
    ${copyLine(agentPrompt(ctx), t('Prompt for your agent'))}`

const noModel = msg('This server has no model that builds what you describe.')
const demoModel = msg(
  'This server has no model that builds what you describe. Its demo builder makes ready-made pages, as in these examples.',
)

const limits = (kind: Exclude<BuilderKind, 'model'>): string =>
  kind === 'none'
    ? t(noModel)
    : t(
        'This server has no model that builds what you describe. Its demo builder makes ready-made pages from your words: {readyMadePages}.',
        { readyMadePages: t(readyMadePages) },
      )

/** Says what the builder cannot do, and to the operator how to change that. */
function builderLimits(ctx: AppContext, isOperator = false): Part {
  const kind = builderKind(ctx)
  if (kind === 'model') return false
  const add =
    isOperator &&
    html` <a href="/console/providers">Add a model</a>: paste the key of a provider, or use a server
      of this machine.`
  return html`<p class="small limits">${limits(kind)}${add}</p>`
}

const examples = [
  msg('A packing list with tent, boots and a map'),
  msg('A quiz about the planets'),
  msg('Snake in neon colors'),
  msg('A game where a fox collects coins and dodges rocks'),
]

interface PromptFieldOptions {
  value?: string | undefined
  label?: string
  placeholder?: string
  error?: string | undefined
}

/** The large field of a prompt, with its error. */
export function promptField(options: PromptFieldOptions = {}): Html {
  const { value = '', label = t('What should it do?'), error } = options
  const { placeholder = t('A game where a fox collects coins …') } = options
  const invalid =
    error !== undefined && html` aria-invalid="true" aria-describedby="error-prompt" autofocus`
  return html`<label class="prompt-field"
      ><span class="visually-hidden">${label}</span
      ><textarea
        name="prompt"
        rows="3"
        dir="auto"
        required
        maxlength="${buildPromptCharsMax}"
        placeholder="${placeholder}"
        ${invalid}
      >
${value}</textarea>
    </label>
    ${error !== undefined && html`<p class="alert" id="error-prompt" role="alert">${error}</p>`}`
}

/** The usual and the maximum price of a build, and that a failed one is free. */
export const priceNote = (max: number, usual: number | undefined): Html =>
  html`<p class="small">
    ${
      usual === undefined
        ? t('At most {max}.', { max: formatAmount(max, 'credit') })
        : t('About {usual}, at most {max}.', {
            usual: formatAmount(usual, 'credit'),
            max: shortCredits(max),
          })
    }
    You pay only if it succeeds.
  </p>`

/** Links that fill in the prompt of the page to make an app. */
const exampleChips = (): Html =>
  html`<ul class="chips examples" aria-label="Examples">
    ${examples.map(
      (prompt) =>
        html`<li>
          <a href="/new?prompt=${encodeURIComponent(String(prompt))}" rel="nofollow">${prompt}</a>
        </li>`,
    )}
  </ul>`

/**
 * The ways to make an app on the home page, the first that works here before the others. The prompt
 * box opens `/new` with the prompt: a page that everyone shares has no form token and no agent.
 */
export async function waysToMake(ctx: AppContext): Promise<Html> {
  const price = quoteBuild(ctx, 'app')
  const kind = builderKind(ctx)
  const page = {
    value: 'page',
    label: t('Upload or paste'),
    content: html`<a class="drop-link" href="/new?way=page"
      ><strong>Choose a page</strong>
      <span>An HTML file, a folder or a zip. Try it here before you have an account.</span></a
    >`,
  }
  const agent = {
    value: 'agent',
    label: t('Connect your agent'),
    content: html`<div class="panel">${agentWay(ctx)}</div>`,
  }
  const describe = price !== undefined && {
    value: 'describe',
    label: kind === 'model' ? t('Describe it') : t('Demo builder'),
    content: html`<form class="prompt-box" action="/new" method="get">
        ${promptField()}
        <div class="prompt-send">
          ${priceNote(price, await findUsualPrice(ctx))}<button class="button">Make it</button>
        </div>
      </form>
      ${exampleChips()} ${kind === 'templates' && html`<p class="small limits">${demoModel}</p>`}`,
  }
  const all = kind === 'model' ? [describe, page, agent] : [page, agent, describe]
  const choices = all.filter((one) => one !== false)
  return html`<div class="segmented">
      ${segments(t('Ways to make an app'), 'way', choices, choices[0]?.value)}
    </div>
    ${kind === 'none' && html`<p class="small limits">${noModel}</p>`}`
}

const gameWords =
  /\b(games?|play|player|arcade|puzzle|quiz|trivia|snake|pong|tetris|breakout|solitaire|chess|minesweeper|maze|racing|shooter|platformer|dodges?|jumps?)\b/i

/** Guesses the kind of app that a prompt describes. */
const kindOfPrompt = (prompt: string): 'app' | 'game' => (gameWords.test(prompt) ? 'game' : 'app')

/** The page to make an app, with the result of its last form. */
interface NewAppView {
  token: string
  /** Undefined for a visitor without an account. */
  agents: Agent[] | undefined
  isOperator?: boolean
  /** Is true before the person's first app. */
  isFirst: boolean
  /** The maximum price of the described build in credits, where it is above the usual one. */
  price?: number | undefined
  failed?: { name: 'prompt' | 'page'; message: string } | undefined
  submitted?: Form | undefined
  /** The way that is shown first; by default what works here. */
  way?: Way | undefined
}

const kinds = [
  ['app', msg('App')],
  ['game', msg('Game')],
] as const

/** Renders the ways to make an app, one at a time. */
async function newAppPage(ctx: AppContext, view: NewAppView): Promise<Page> {
  const title = view.isFirst ? t('Make your first app') : t('Make an app')
  const lead =
    builderKind(ctx) === 'model'
      ? t('Describe it and a model builds it, or bring your own HTML file.')
      : t('Bring your own page, remix one, or let your agent make it.')
  const account =
    view.agents === undefined &&
    html`<p class="small">
      You need a free account, which starts with 400 credits. Your work comes with you.
    </p>`
  const main = html`<h1>${title}</h1>
    <p class="lead">${lead}</p>
    ${account}
    ${
      view.agents?.length === 0
        ? html`<p>Apps belong to one of your agents. <a href="/agents">Create an agent</a>.</p>`
        : await makeForms(ctx, view)
    }`
  return { title, main, scripts: ['app-preview.js', 'page-drop.js'], frames: true }
}

/** Returns the way that the last form used, or the requested one, or the first that works. */
function wayOf({ failed, submitted, way }: NewAppView, isBuilt: boolean): Way {
  if (failed?.name === 'page' || submitted?.has('html')) return 'page'
  const isDescribed = failed !== undefined || submitted?.has('prompt') === true
  const chosen = isDescribed ? 'describe' : (way ?? 'describe')
  return chosen === 'describe' && !isBuilt ? 'page' : chosen
}

/** The ways to make an app, of which one is shown. A preview stands beside the form of a page. */
async function makeForms(ctx: AppContext, view: NewAppView): Promise<Html> {
  const kind = builderKind(ctx)
  const built = await promptForm(ctx, view)
  const describe = {
    value: 'describe',
    label: kind === 'model' ? t('Describe it') : t('Demo builder'),
    content: html`${built}${built && exampleChips()}${builderLimits(ctx, view.isOperator)}`,
  }
  const page = {
    value: 'page',
    label: t('Upload or paste'),
    content: html`${await pageForm(ctx, view)}
      <div class="drop-result">
        <div class="drop-head">
          <p role="status"></p>
          <button type="button" class="button quiet slim" hidden>Remove page</button>
        </div>
        ${appPreview(ctx, { title: t('Preview of your page') })}
      </div>`,
  }
  const remix = {
    value: 'remix',
    label: t('Remix an app'),
    content: html`<p>Copy one that you like with its code, and change it in the studio.</p>
      <p class="actions"><a class="button" href="/explore?price=free">Choose an app</a></p>`,
  }
  const agent = { value: 'agent', label: t('Connect your agent'), content: agentWay(ctx) }
  const ready = built === undefined ? [page] : [page, describe]
  const choices = kind === 'model' ? ready.toReversed() : ready
  return html`<page-drop
      class="segmented"
      data-limits="${JSON.stringify(pageZipLimits(ctx.config))}"
      ${!view.agents && html` data-guest`}
      >${segments(
        t('Ways to make an app'),
        'way',
        [...choices, remix, agent],
        wayOf(view, built !== undefined),
      )}</page-drop
    >
    ${built === undefined && builderLimits(ctx, view.isOperator)}
    <p class="small below">
      Not an app? <a href="/new/skill">Publish a skill or framework</a>: instructions that an AI
      loads when it needs them.
    </p>`
}

const kindField = (ctx: AppContext, value: string): Part =>
  ctx.config.gamesOn && selectField({ label: t('Kind'), name: 'kind', value, options: kinds })

/** The agent that pays, of a person with an account. */
const agentField = async (
  ctx: AppContext,
  agents: Agent[] | undefined,
  selected: string | undefined,
): Promise<Part> => agents && (await payingField(ctx, agents, selected))

async function promptForm(ctx: AppContext, view: NewAppView): Promise<Part> {
  const { token, agents, failed } = view
  const submitted = view.submitted?.has('prompt') ? view.submitted : undefined
  const value = submitted?.text('prompt') ?? ''
  const kind = submitted?.text('kind') || kindOfPrompt(value)
  const prompt = value === '' ? undefined : value
  const price = view.price ?? quoteBuild(ctx, kind === 'game' ? 'game' : 'app', { prompt })
  if (price === undefined) return undefined
  const error = failed?.name === 'prompt' ? failed.message : undefined
  const agent = await agentField(ctx, agents, submitted?.text('as'))
  const usual = await findUsualPrice(ctx)
  const cost =
    usual === undefined
      ? t('at most {price}', { price: formatAmount(price, 'credit') })
      : t('about {usual}', { usual: formatAmount(usual, 'credit') })
  const confirm = html`${hiddenField('max', price)}${hiddenField('ref', newId())}${button(agents ? t('Build for {cost}', { cost }) : t('Create an account and build'))}`
  return postForm(
    token,
    '/new/prompt',
    html`${promptField({ value, error })}
      <div class="prompt-options">${kindField(ctx, kind)}${agent}</div>
      <div class="prompt-send">${priceNote(price, usual)}${confirm}</div>`,
    'prompt-box',
  )
}

async function pageForm(ctx: AppContext, view: NewAppView): Promise<Html> {
  const limits = pageZipLimits(ctx.config)
  const { token, agents, failed } = view
  const submitted = view.submitted?.has('html') ? view.submitted : undefined
  const file = fileField({
    label: t('HTML file or zip'),
    hint: html`One page with its files, at most ${formatNumber(limits.filesMax)} files and
      ${formatBytes(limits.bytesMax)}.
      <span class="with-script">Drop it here, or drop a folder.</span>`,
    accept: '.html,.htm,.zip,text/html,application/zip',
    isOptional: true,
    isDrop: true,
  })
  const text = textArea({
    label: t('Or paste the HTML'),
    name: 'html',
    value: submitted?.text('html'),
    max: htmlBytesMax,
    isCode: true,
    error: failed?.name === 'page' ? failed.message : undefined,
  })
  const title = inputField({
    label: t('Title (optional)'),
    name: 'title',
    value: submitted?.text('title'),
    max: titleCharsMax,
    isOptional: true,
  })
  const agent = await agentField(ctx, agents, submitted?.text('as'))
  const kind = kindField(ctx, submitted?.text('kind') || 'app')
  const label = agents ? t('Publish') : t('Create an account and publish')
  const fields = html`${file}${text}
    <div class="two-fields">${title}${kind}${agent}</div>
    ${hiddenField('ref', newId())}${button(label)}`
  return postForm(token, '/new/page', fields, 'form', 'multipart/form-data')
}

/** A draft in a form is valid for this time. */
const draftMs = 86_400_000

const DraftSchema = Type.Object({
  prompt: Type.String({ maxLength: buildPromptCharsMax }),
  html: Type.String({ maxLength: draftHtmlBytesMax }),
  title: Type.String({ maxLength: titleCharsMax }),
  kind: oneOf(['app', 'game']),
})
const SignedDraftSchema = Type.Object({ draft: DraftSchema, expires: Type.Integer() })

/** The unsent work of a visitor without an account. The server does not store it. */
type Draft = Static<typeof DraftSchema>

const signatureOf = (ctx: AppContext, payload: string): string =>
  sign(ctx.secret, `draft ${payload}`)

/** Returns the hidden text that carries a draft through sign-up; undefined for a large one. */
function signDraft(ctx: AppContext, draft: Draft): string | undefined {
  if (!Value.Check(DraftSchema, draft)) return undefined
  if (Buffer.byteLength(draft.html) > draftHtmlBytesMax) return undefined
  const payload = JSON.stringify({ draft, expires: ctx.clock.now() + draftMs })
  const text = Buffer.from(payload).toString('base64url')
  return `${text}.${signatureOf(ctx, text)}`
}

/** Reads a signed draft; undefined for one that expired or that this server did not sign. */
function readDraft(ctx: AppContext, text: string): Draft | undefined {
  const [payload = '', signature = ''] = text.split('.')
  if (payload === '' || signature !== signatureOf(ctx, payload)) return undefined
  const signed: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString())
  if (!Value.Check(SignedDraftSchema, signed) || signed.expires < ctx.clock.now()) return undefined
  return signed.draft
}

/** Returns a draft as the fields of a submitted form. */
function draftForm({ prompt, html, title, kind }: Draft): Form {
  const draft = { prompt, html, title, kind }
  const values = new Map(Object.entries(draft).filter(([, value]) => value !== ''))
  return {
    text: (name) => values.get(name) ?? '',
    has: (name) => values.has(name),
    file: () => undefined,
  }
}

/** Makes an app as one of a person's agents: from a description, or from a page. */
export const newAppRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .get('/new', async ({ input }) => {
      const req = await getPageRequest(input)
      return privatePage(req, await getPage(req, await requestedDraft(req)))
    })
    .get('/new/prompt', () => redirectTo('/new'))
    .get('/new/page', () => redirectTo('/new'))
    .get('/new/draft', () => redirectTo('/new'))
    .post('/new/prompt', ({ input }) => submitForm(input, 'prompt', buildFromPrompt))
    .post('/new/page', ({ input }) => submitForm(input, 'page', publishPage))
    .post('/new/draft', ({ input }) => openDraft(input))

const promptDraft = (prompt: string): Form =>
  draftForm({ prompt, kind: kindOfPrompt(prompt), html: '', title: '' })

/** Returns the prompt in the query, or that of a build that failed with its error. */
async function requestedDraft({ ctx, query, visitor }: PageRequest): Promise<Feedback> {
  const id = query.get('build')
  if (id !== null && visitor) {
    const build = await findBuild(ctx, await listActingAgents(ctx, visitor.person), id)
    if (!build) return {}
    const { error, state } = build.job
    const message = state === 'failed' ? error?.error : undefined
    return {
      submitted: draftForm({ ...build.input, html: '', title: '' }),
      ...(message !== undefined && { failed: { name: 'prompt', message } }),
    }
  }
  const prompt = searchTerm(query, buildPromptCharsMax, 'prompt')
  if (prompt !== undefined) return { submitted: promptDraft(prompt) }
  return { way: ways.find((one) => one === query.get('way')) }
}

type Feedback = Pick<NewAppView, 'failed' | 'submitted' | 'price' | 'way'>

async function getPage({ ctx, token, visitor }: PageRequest, more: Feedback = {}): Promise<Page> {
  if (!visitor) return newAppPage(ctx, { token, agents: undefined, isFirst: false, ...more })
  const agents = await listActingAgents(ctx, visitor.person)
  const made = await Promise.all(agents.map(({ id }) => apps.countByMaker(ctx, id)))
  const isFirst = made.every((count) => count === 0)
  const isOperator = visitor.person.operator
  return newAppPage(ctx, { token, agents, isOperator, isFirst, ...more })
}

/** Handles a form. Without an account it leads to sign-up, which carries what was typed. */
async function submitForm(
  input: PageInput,
  name: 'prompt' | 'page',
  work: (req: UserRequest, form: Form) => Promise<Response>,
): Promise<Response> {
  const req = await getPageRequest(input)
  const { visitor } = req
  const isUpload = name === 'page' && visitor !== undefined
  const { zipBytesMax } = pageZipLimits(req.ctx.config)
  const bytesMax = isUpload ? zipBytesMax + 3 * htmlBytesMax + formBytesMax : draftFormBytesMax
  return handleForm(
    req,
    (_, sent) => (visitor ? work({ ...req, visitor }, sent) : askForAccount(req, sent)),
    (_, message, submitted) => getPage(req, { submitted, failed: { name, message } }),
    { bytesMax },
  )
}

/** Shows sign-up with the work in a signed field. Throws `bad_request`. */
async function askForAccount(req: PageRequest, sent: Form): Promise<Response> {
  const [isPage, prompt, title] = [sent.has('html'), sent.text('prompt'), sent.text('title').trim()]
  if (!isPage) checkPrompt(req, prompt, kindOf(sent))
  if (await findZip(sent)) rejectRequest(t('Sign in first: files cannot be kept through sign-up.'))
  const html = isPage ? await htmlOf(sent) : ''
  const draft = signDraft(req.ctx, { prompt, html, title, kind: kindOf(sent) })
  if (draft === undefined) {
    const max = formatBytes(draftHtmlBytesMax)
    rejectRequest(t('Sign in first: more than {max} cannot be kept through sign-up.', { max }))
  }
  return privatePage(req, renderSignUp({ token: req.token, next: '/new', draft }, req))
}

/** Opens a signed draft: in the forms, or with the sign-in form for people without a session. */
async function openDraft(input: PageInput): Promise<Response> {
  const req = await getPageRequest(input)
  checkSite(req.ctx, req.request)
  // A draft changes nothing and is signed, so it needs no token: the session is newer than it.
  const text = (await readForm(req.request, draftFormBytesMax)).text('draft')
  const draft = readDraft(req.ctx, text)
  if (!draft) {
    const message = t('This draft expired. Enter it again.')
    return privatePage(req, await getPage(req, { failed: { name: 'prompt', message } }))
  }
  if (!req.visitor) {
    return privatePage(req, renderSignIn({ token: req.token, next: '/new', draft: text }, req))
  }
  return privatePage(req, await getPage(req, { submitted: draftForm(draft) }))
}

/** Rejects a prompt that is empty or that the demo builder declines. */
function checkPrompt({ ctx }: PageRequest, prompt: string, kind: 'app' | 'game'): void {
  if (prompt.trim() === '') rejectRequest(t('Describe the app.'))
  const why = whyDeclined(ctx, kind, prompt)
  if (why !== undefined)
    rejectRequest(
      t('{why} Nothing was charged. Describe it in other words, or write the page yourself.', {
        why,
      }),
    )
}

const kindOf = (form: Form): 'app' | 'game' => (form.text('kind') === 'game' ? 'game' : 'app')

/** Shows the price of a build, and starts the build at the confirmed price. */
async function buildFromPrompt(req: UserRequest, sent: Form): Promise<Response> {
  const prompt = sent.text('prompt').replaceAll('\r\n', '\n')
  const fields = { prompt, kind: kindOf(sent) }
  checkPrompt(req, prompt, fields.kind)
  const agent = await actingAgent(req, sent)
  const dryRun = { ...fields, dryRun: true }
  const price = priceOf(await performAs(req, { agent }, operations.publishApp, {}, dryRun))
  const max = Number(sent.text('max'))
  if (!sent.has('max') || !(max >= price)) {
    return privatePage(req, await getPage(req, { submitted: sent, price }))
  }
  return form(operations.publishApp, {
    fields: () => ({ ...fields, maxCredits: price }),
    ref: readRef,
    then: (started) => `/studio/${appIdOf(started)}/build`,
  })(req, sent)
}

/** Returns the maximum price of a dry run in whole credits. */
function priceOf(dryRun: unknown): number {
  const { price } = recordOf(dryRun)
  if (typeof price === 'number') return Math.ceil(price)
  throw new Error('a dry run returned no price')
}

/** Publishes the file, the zip with its assets or the pasted text. The same form publishes once. */
const publishPage = form(operations.publishApp, {
  async fields(sent) {
    const [title, isFolder] = [sent.text('title').trim(), await findZip(sent)]
    const page = isFolder ? {} : { html: await htmlOf(sent) }
    return { ...page, kind: kindOf(sent), ...(title && { title }) }
  },
  zip: findZip,
  ref: readRef,
  then: (published) => `/studio/${appIdOf(published)}/build?done=publish`,
})

function appIdOf(published: unknown): string {
  const { id } = recordOf(recordOf(published)['app'])
  if (typeof id === 'string') return id
  throw new Error('the response has no app')
}

/** Returns the uploaded file if it is a zip. */
async function findZip(sent: Form): Promise<File | undefined> {
  const file = sent.file('file')
  if (!file || !isZip(file, await file.bytes())) return undefined
  return file
}

/** Returns the HTML file or the pasted text of a form. Throws `bad_request`. */
async function htmlOf(sent: Form): Promise<string> {
  const bytes = await sent.file('file')?.bytes()
  const html = bytes ? decodePage(bytes).text : sent.text('html')
  return html.trim() ? html : rejectRequest(t('Choose an HTML file or a zip, or paste HTML.'))
}
