import type { AppContext } from '../../context.ts'
import { idPattern } from '../../core/ids.ts'
import { isRecord } from '../../core/schema.ts'
import type { Agent } from '../../hosting/agents/agents.ts'
import * as apps from '../../hosting/apps/apps.ts'
import { startBuild } from '../../hosting/apps/builds/builds.ts'
import { publishApp } from '../../hosting/apps/publish.ts'
import { getActingAgent, listActingAgents } from '../../hosting/people/owned-agents.ts'
import type { StoredResponse } from '../../idempotency/idempotency.ts'
import { formBytesMax, htmlBytesMax } from '../../limits.ts'
import { type Form, rejectForm } from '../forms.ts'
import type { Layout, Page } from '../layout.ts'
import {
  pageRoutes,
  privatePage,
  redirectTo,
  userForm,
  userPage,
  type UserRequest,
} from '../session.ts'
import { newAppPage, type NewAppView } from './new.ts'

/** Makes an app as one of a person's agents: from a description, or from a page. */
export const newAppRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .get('/new', ({ input }) => userPage(input, (req) => getPage(req)))
    .get('/new/prompt', () => redirectTo('/new'))
    .get('/new/page', () => redirectTo('/new'))
    .post('/new/prompt', ({ input }) =>
      userForm(input, buildFromPrompt, (req, message, submitted) =>
        getPage(req, { submitted, failed: { name: 'prompt', message } }),
      ),
    )
    .post('/new/page', ({ input }) =>
      userForm(
        input,
        publishPage,
        (req, message, submitted) => getPage(req, { submitted, failed: { name: 'page', message } }),
        { bytesMax: 2 * htmlBytesMax + formBytesMax },
      ),
    )

type Feedback = Pick<NewAppView, 'failed' | 'submitted' | 'price'>

async function getPage({ ctx, token, visitor }: UserRequest, more: Feedback = {}): Promise<Page> {
  const agents = await listActingAgents(ctx, visitor.person)
  const made = await Promise.all(agents.map(({ id }) => apps.countByMaker(ctx, id)))
  return newAppPage(ctx, { token, agents, isFirst: made.every((count) => count === 0), ...more })
}

const kindOf = (form: Form): 'app' | 'game' => (form.text('kind') === 'game' ? 'game' : 'app')

const refOf = (form: Form): string =>
  idPattern.test(form.text('ref')) ? form.text('ref') : rejectForm('Reload the page and try again.')

/** Shows the price of a build, and starts the build at the confirmed price. */
async function buildFromPrompt(req: UserRequest, form: Form): Promise<Response> {
  const agent = await getActingAgent(req.ctx, req.visitor.person, form.text('as'))
  const prompt = form.text('prompt').replaceAll('\r\n', '\n')
  const request = { prompt, kind: kindOf(form) } as const
  if (prompt.trim() === '') rejectForm('Describe the app.')
  const price = await getPrice(req.ctx, agent, request)
  const max = Number(form.text('max'))
  if (!form.has('max') || !(max >= price)) {
    return privatePage(req, await getPage(req, { submitted: form, price }))
  }
  const ref = refOf(form)
  const { body } = await startBuild(req.ctx, { agent }, { ...request, maxCredits: price, ref })
  return redirectTo(`/studio/${appIdOf(body)}?done=build`)
}

/** Returns the maximum price in whole credits. */
async function getPrice(
  ctx: AppContext,
  agent: Agent,
  request: { prompt: string; kind: 'app' | 'game' },
): Promise<number> {
  const { body } = await startBuild(ctx, { agent }, { ...request, dryRun: true })
  const price = isRecord(body) ? Number(body['price']) : Number.NaN
  if (Number.isNaN(price)) throw new Error('a dry run returned no price')
  return Math.ceil(price)
}

/** Publishes the file or the pasted text. The same form publishes once. */
async function publishPage(req: UserRequest, form: Form): Promise<Response> {
  const agent = await getActingAgent(req.ctx, req.visitor.person, form.text('as'))
  const html = (await form.file('file')?.text()) ?? form.text('html')
  if (html.trim() === '') rejectForm('Choose an HTML file or paste its text.')
  const title = form.text('title').trim()
  const request = { html, kind: kindOf(form), ref: refOf(form), ...(title && { title }) }
  const { body } = await publishApp(req.ctx, agent, request)
  return redirectTo(`/studio/${appIdOf(body)}?done=publish`)
}

function appIdOf(body: StoredResponse['body']): string {
  const app = isRecord(body) ? body['app'] : undefined
  const id = isRecord(app) ? app['id'] : undefined
  if (typeof id === 'string') return id
  throw new Error('the response has no app')
}
