import { Elysia } from 'elysia'

import { feature, unfeature } from '../../apps/explore/featured.ts'
import { ApiError } from '../../kernel/errors.ts'
import { csv } from '../../kernel/http/outcome.ts'
import { forItem, type Form, rejectForm } from '../../site/forms.ts'
import type { Layout, Page } from '../../site/layout.ts'
import { pageRoutes, redirectTo, type UserRequest } from '../../site/session.ts'
import type { AppContext } from '../context.ts'
import { toResponse } from '../http/routes.ts'
import {
  downloadBackup,
  removeBackup,
  startBackup,
  startBackupCheck,
} from '../operator/console-backups.ts'
import { incomeCsv } from '../operator/topups.ts'
import {
  applyDecision,
  operatorForm,
  operatorName,
  operatorPage,
  requireOperator,
} from './access.ts'
import { agentPage, agentsPage, decideAgent } from './agents.ts'
import { alertsPage, testAlert } from './alerts.ts'
import { appDecisions, appPage, verdicts } from './app.ts'
import { auditPage } from './audit.ts'
import { backupsPage } from './backups.ts'
import { clientsPage, decideClient } from './clients.ts'
import { errorsPage } from './errors.ts'
import { giveCredits, grantsPage, retryGrant } from './grants.ts'
import { keyRoutes } from './key-routes.ts'
import { keysPage } from './keys.ts'
import { latencyPage } from './latency.ts'
import { librariesPage, submitLibrary } from './libraries.ts'
import { modelPricePage, submitModelPrice } from './model-price.ts'
import { modelsPage, submitModel } from './models.ts'
import { overviewPage } from './overview.ts'
import { packFilesPage } from './pack-files.ts'
import { creditPayment, paymentsPage } from './payments.ts'
import { decidePerson, peoplePage, personPage } from './people.ts'
import { decideCase, queuePage } from './queue.ts'
import { requestPage, requestsPage } from './requests.ts'
import { settingPage, settingsPage, submitSetting } from './settings.ts'
import { spendPage } from './spend.ts'
import { decidedPath } from './undo.ts'
import { upstreamsPage } from './upstreams.ts'

/** The pages of the operator's console and the forms on them. */
export const consoleRoutes = (ctx: AppContext, layout: Layout) =>
  new Elysia()
    .use(viewRoutes(ctx, layout))
    .use(decisionRoutes(ctx, layout))
    .use(backupRoutes(ctx, layout))
    .use(keyRoutes(ctx, layout))

const pages: Record<string, (req: UserRequest) => Page | Promise<Page>> = {
  '': overviewPage,
  '/requests': requestsPage,
  '/latency': latencyPage,
  '/errors': errorsPage,
  '/alerts': alertsPage,
  '/spend': spendPage,
  '/queue': queuePage,
  '/agents': agentsPage,
  '/people': peoplePage,
  '/keys': keysPage,
  '/clients': clientsPage,
  '/payments': paymentsPage,
  '/upstreams': ({ ctx }) => upstreamsPage(ctx),
  '/models': modelsPage,
  '/models/price': modelPricePage,
  '/settings': settingsPage,
  '/audit': auditPage,
  '/libraries': librariesPage,
  '/backups': backupsPage,
}

function viewRoutes(ctx: AppContext, layout: Layout) {
  const router = pageRoutes(ctx, layout)
    .get('/console/grants', ({ input }) => requireOperator(input, grantsPage))
    .get('/console/payments.csv', ({ input }) =>
      requireOperator(input, async ({ request }) =>
        toResponse(ctx, request, csv('payments', await incomeCsv(ctx))),
      ),
    )
    .get('/console/apps/:id', ({ input, params }) =>
      operatorPage(input, (req) => appPage(req, params.id)),
    )
    .get('/console/apps/:id/files', ({ input, params }) =>
      operatorPage(input, (req) => packFilesPage(req, params.id)),
    )
    .get('/console/agents/:handle', ({ input, params }) =>
      operatorPage(input, (req) => agentPage(req, params.handle)),
    )
    .get('/console/requests/:id', ({ input, params }) =>
      operatorPage(input, (req) => requestPage(req, params.id)),
    )
    .get('/console/settings/:name', ({ input, params }) =>
      operatorPage(input, (req) => settingPage(req, params.name)),
    )
    .get('/console/people/:name', ({ input, params }) =>
      operatorPage(input, (req) => personPage(req, params.name)),
    )
  for (const [path, page] of Object.entries(pages)) {
    router.get(`/console${path}`, ({ input }) => operatorPage(input, page))
  }
  return router
}

/** Runs a decision; the reason of an appeal's decision starts with the verdict. */
async function decideApp(req: UserRequest, id: string, form: Form): Promise<Response> {
  const [name, why] = [form.text('decision'), form.text('why').trim()]
  const decision = verdicts.has(name) ? { name: 'decide', why: `${name} ${why}` } : { name, why }
  await applyDecision(req, appDecisions, { ...decision, item: id })
  return redirectTo(decidedPath(`/console/apps/${id}`, name, id))
}

/** Blocks or unblocks a page by its hash. Throws `bad_request`. */
async function decideHash(req: UserRequest, form: Form): Promise<Response> {
  const item = form.text('sha256').trim().toLowerCase()
  if (!/^[0-9a-f]{64}$/.test(item)) rejectForm('Enter a SHA-256 hash: 64 digits of 0-9 and a-f.')
  const decision = { name: form.text('decision'), item, why: form.text('why') }
  await applyDecision(req, ['block', 'unblock'], decision)
  return redirectTo(decidedPath('/console/queue', decision.name, item))
}

const decisionRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .get('/console/apps/:id/feature', ({ params: { id } }) => redirectTo(`/console/apps/${id}`))
    .post('/console/apps/:id/feature', ({ input, params: { id } }) =>
      operatorForm(input, ...forItem(id, setFeatured, appPage)),
    )
    .post('/console/apps/:id', ({ input, params: { id } }) =>
      operatorForm(input, ...forItem(id, decideApp, appPage)),
    )
    .post('/console/agents/:handle', ({ input, params: { handle } }) =>
      operatorForm(input, ...forItem(handle, decideAgent, agentPage)),
    )
    .post('/console/people/:name', ({ input, params: { name } }) =>
      operatorForm(input, ...forItem(name, decidePerson, personPage)),
    )
    .get('/console/blocklist', () => redirectTo('/console/queue#blocklist'))
    .get('/console/rescan', () => redirectTo('/console/queue'))
    .post('/console/queue', ({ input }) => operatorForm(input, decideCase, queuePage))
    .post('/console/blocklist', ({ input }) => operatorForm(input, decideHash, queuePage))
    .post('/console/clients', ({ input }) => operatorForm(input, decideClient, clientsPage))
    .post('/console/rescan', ({ input }) => operatorForm(input, rescanAll, queuePage))
    .post('/console/settings/:name', ({ input, params: { name } }) =>
      operatorForm(input, ...forItem(name, submitSetting, settingPage)),
    )
    .get('/console/alerts/test', () => redirectTo('/console/alerts'))
    .post('/console/alerts/test', ({ input }) => operatorForm(input, testAlert, alertsPage))
    .get('/console/models/switch', () => redirectTo('/console/models'))
    .post('/console/models/switch', ({ input }) => operatorForm(input, submitModel, modelsPage))
    .post('/console/models/price', ({ input }) =>
      operatorForm(input, submitModelPrice, modelPricePage),
    )
    .post('/console/libraries', ({ input }) => operatorForm(input, submitLibrary, librariesPage))
    .post('/console/payments', ({ input }) => operatorForm(input, creditPayment, paymentsPage))
    .post('/console/grants', ({ input }) => operatorForm(input, giveCredits, retryGrant))

async function rescanAll(req: UserRequest): Promise<Response> {
  await applyDecision(req, ['rescan'], { name: 'rescan', item: 'all', why: '' })
  return redirectTo('/console/queue')
}

const backupRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .get('/console/backups/:name', ({ input, params: { name } }) =>
      requireOperator(input, async () => {
        const headers = {
          'content-type': 'application/x-tar',
          'content-disposition': `attachment; filename="berth-${name}.tar"`,
          'cache-control': 'no-store',
        }
        return new Response(await downloadBackup(ctx, name), { headers })
      }),
    )
    .post('/console/backups', ({ input }) =>
      operatorForm(
        input,
        async (req) => {
          await startBackup(ctx, operatorName(req))
          return redirectTo('/console/backups')
        },
        backupsPage,
      ),
    )
    .post('/console/backups/:name', ({ input, params: { name } }) =>
      operatorForm(
        input,
        async (req, form) => {
          const action = form.text('act')
          if (action === 'check') startBackupCheck(ctx, name)
          else if (action === 'remove') await removeBackup(ctx, name, operatorName(req))
          else throw new ApiError('not_found', { what: 'page' })
          return redirectTo('/console/backups')
        },
        backupsPage,
      ),
    )

/** Puts an item on the home page, or removes it from there. */
async function setFeatured(req: UserRequest, id: string, form: Form): Promise<Response> {
  const change = form.has('remove') ? unfeature : feature
  await change(req.ctx, id, operatorName(req))
  return redirectTo(`/console/apps/${id}`)
}
