import * as apps from '../../apps/apps.ts'
import { whyDeclined } from '../../apps/builds/builder-kind.ts'
import { findBuild } from '../../apps/builds/builds.ts'
import { decodePage } from '../../apps/folders/charset.ts'
import { pageZipLimits } from '../../apps/folders/limits.ts'
import { isZip } from '../../apps/folders/unzip.ts'
import * as operations from '../../apps/operations.ts'
import { listActingAgents } from '../../apps/owners/owned-agents.ts'
import type { AppContext } from '../../kernel/context.ts'
import { rejectRequest } from '../../kernel/errors.ts'
import { buildPromptCharsMax, formBytesMax, htmlBytesMax } from '../../kernel/limits.ts'
import { recordOf } from '../../kernel/schema.ts'
import { t } from '../../kernel/words/message.ts'
import { checkSite } from '../../people/session-user.ts'
import { searchTerm } from '../components.ts'
import { form, performAs } from '../form.ts'
import { formatBytes } from '../format.ts'
import { type Form, readForm, readRef } from '../forms.ts'
import type { Layout, Page } from '../layout.ts'
import {
  actingAgent,
  getPageRequest,
  handleForm,
  type PageInput,
  type PageRequest,
  pageRoutes,
  privatePage,
  redirectTo,
  type UserRequest,
} from '../session.ts'
import { renderSignIn, renderSignUp } from '../sign-in/sign-in.ts'
import {
  draftForm,
  draftFormBytesMax,
  draftHtmlBytesMax,
  kindOfPrompt,
  newAppPage,
  type NewAppView,
  readDraft,
  signDraft,
} from './new.ts'

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
  return prompt === undefined ? {} : { submitted: promptDraft(prompt) }
}

type Feedback = Pick<NewAppView, 'failed' | 'submitted' | 'price'>

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
