import { Elysia } from 'elysia'

import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { csv } from '../../kernel/http/outcome.ts'
import { toResponse } from '../../kernel/http/response.ts'
import { form } from '../../site/form.ts'
import type { Layout, Page } from '../../site/layout.ts'
import { pageRoutes, redirectTo, type UserRequest } from '../../site/session.ts'
import { downloadBackup } from '../operator/console-backups.ts'
import {
  checkBackup,
  featureItem,
  removeBackup,
  restoreBackup,
  startBackup,
  unfeatureItem,
} from '../operator/operations.ts'
import { incomeCsv } from '../operator/topups.ts'
import { operatorForm, operatorPage, requireOperator } from './access.ts'
import { agentPage, agentsPage, decideAgent } from './agents.ts'
import { alertsPage, testForm } from './alerts.ts'
import {
  appPage,
  changeAppAudience,
  createAppLink,
  decideApp,
  packFilesPage,
  revokeAppLink,
} from './app.ts'
import { auditPage } from './audit.ts'
import { backupsPage } from './backups.ts'
import { clientForm, clientsPage } from './clients.ts'
import { errorsPage } from './errors.ts'
import { confirmedGrant, grantsPage, retryGrant } from './grants.ts'
import { groupForm, groupsPage } from './groups.ts'
import { accountForm, keyAccountPage } from './key-account.ts'
import { keyForm, keyPage, projectForm, projectPage } from './key.ts'
import { keysPage } from './keys.ts'
import { latencyPage } from './latency.ts'
import { librariesPage, libraryForm } from './libraries.ts'
import { modelForm, modelPriceForm, modelPricePage, modelsPage } from './models.ts'
import { overviewPage } from './overview.ts'
import { creditForm, paymentsPage } from './payments.ts'
import { decidePerson, peoplePage, personPage } from './people.ts'
import {
  builderForm,
  localForm,
  providerForm,
  providersPage,
  removeForm,
  upstreamsPage,
} from './providers.ts'
import { decideCase, decideHash, queuePage, rescanForm } from './queue.ts'
import { requestPage, requestsPage } from './requests.ts'
import { settingForm, settingPage, settingsPage } from './settings.ts'
import { spendPage } from './spend.ts'

/** The pages of the operator's console and the forms on them. */
export const consoleRoutes = (ctx: AppContext, layout: Layout) =>
  new Elysia()
    .use(viewRoutes(ctx, layout))
    .use(decisionRoutes(ctx, layout))
    .use(audienceRoutes(ctx, layout))
    .use(backupRoutes(ctx, layout))
    .use(providerRoutes(ctx, layout))
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
  '/groups': groupsPage,
  '/keys': keysPage,
  '/clients': clientsPage,
  '/payments': paymentsPage,
  '/providers': providersPage,
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

const decisionRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .get('/console/apps/:id/feature', ({ params: { id } }) => redirectTo(`/console/apps/${id}`))
    .post('/console/apps/:id/feature', ({ input, params: { id } }) =>
      operatorForm(
        input,
        (req, sent) => {
          const operation = sent.has('remove') ? unfeatureItem : featureItem
          return form(operation, { params: { id }, then: `/console/apps/${id}` })(req, sent)
        },
        (req, message, submitted) => appPage(req, id, { message, submitted }),
      ),
    )
    .post('/console/apps/:id', ({ input, params: { id } }) =>
      operatorForm(
        input,
        (req, sent) => decideApp(id, sent)(req, sent),
        (req, message, submitted) => appPage(req, id, { message, submitted }),
      ),
    )
    .post('/console/agents/:handle', ({ input, params: { handle } }) =>
      operatorForm(input, decideAgent(handle), (req, message, sent) =>
        agentPage(req, handle, message, sent),
      ),
    )
    .post('/console/people/:name', ({ input, params: { name } }) =>
      operatorForm(input, decidePerson(name), (req, message, sent) =>
        personPage(req, name, message, sent),
      ),
    )
    .post('/console/groups', ({ input }) => operatorForm(input, groupForm, groupsPage))
    .get('/console/blocklist', () => redirectTo('/console/queue#blocklist'))
    .get('/console/rescan', () => redirectTo('/console/queue'))
    .post('/console/queue', ({ input }) => operatorForm(input, decideCase, queuePage))
    .post('/console/blocklist', ({ input }) => operatorForm(input, decideHash, queuePage))
    .post('/console/clients', ({ input }) => operatorForm(input, clientForm, clientsPage))
    .post('/console/rescan', ({ input }) => operatorForm(input, rescanForm, queuePage))
    .post('/console/settings/:name', ({ input, params: { name } }) =>
      operatorForm(
        input,
        (req, sent) => settingForm(name, sent)(req, sent),
        (req, message, sent) => settingPage(req, name, message, sent),
      ),
    )
    .get('/console/alerts/test', () => redirectTo('/console/alerts'))
    .post('/console/alerts/test', ({ input }) => operatorForm(input, testForm, alertsPage))
    .get('/console/models/switch', () => redirectTo('/console/models'))
    .post('/console/models/switch', ({ input }) => operatorForm(input, modelForm, modelsPage))
    .post('/console/models/price', ({ input }) =>
      operatorForm(input, modelPriceForm, modelPricePage),
    )
    .post('/console/libraries', ({ input }) =>
      operatorForm(input, (req, sent) => libraryForm(sent)(req, sent), librariesPage),
    )
    .post('/console/payments', ({ input }) => operatorForm(input, creditForm, paymentsPage))
    .post('/console/grants', ({ input }) => operatorForm(input, confirmedGrant, retryGrant))

/** The forms that say who may open an app. Each shows the page of the app. */
function audienceRoutes(ctx: AppContext, layout: Layout) {
  const router = pageRoutes(ctx, layout)
  const forms = { audience: changeAppAudience, links: createAppLink, 'revoke-link': revokeAppLink }
  for (const [name, formOf] of Object.entries(forms)) {
    router
      .get(`/console/apps/:id/${name}`, ({ params }) => redirectTo(`/console/apps/${params['id']}`))
      .post(`/console/apps/:id/${name}`, ({ input, params: { id = '' } }) =>
        operatorForm(input, formOf(id), (req, message, submitted) =>
          appPage(req, id, { message, submitted }),
        ),
      )
  }
  return router
}

const providerRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .post('/console/providers', ({ input }) =>
      operatorForm(input, (req, sent) => providerForm(sent)(req, sent), providersPage),
    )
    .post('/console/providers/remove', ({ input }) =>
      operatorForm(input, (req, sent) => removeForm(sent)(req, sent), providersPage),
    )
    .post('/console/providers/local', ({ input }) =>
      operatorForm(input, (req, sent) => localForm(sent)(req, sent), providersPage),
    )
    .post('/console/providers/builder', ({ input }) =>
      operatorForm(input, builderForm, providersPage),
    )
    .get('/console/providers/:form', () => redirectTo('/console/providers'))

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
      operatorForm(input, form(startBackup, { then: '/console/backups' }), backupsPage),
    )
    .post('/console/backups/:name', ({ input, params: { name } }) =>
      operatorForm(
        input,
        (req, sent) => {
          const to = { params: { name }, then: '/console/backups' }
          if (sent.text('act') === 'check') return form(checkBackup, to)(req, sent)
          if (sent.text('act') === 'restore') return form(restoreBackup, to)(req, sent)
          if (sent.text('act') === 'remove') return form(removeBackup, to)(req, sent)
          throw new ApiError('not_found', { what: 'page' })
        },
        backupsPage,
      ),
    )

/** The pages of the keys and the projects of an account. */
const keyRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .get('/console/keys/:account', ({ input, params: { account } }) =>
      operatorPage(input, (req) => keyAccountPage(req, account)),
    )
    .post('/console/keys/:account', ({ input, params: { account } }) =>
      operatorForm(
        input,
        async (req, sent) => (await accountForm(req, account, sent))(req, sent),
        (req, message, sent) => keyAccountPage(req, account, message, sent),
      ),
    )
    .get('/console/keys/:account/:id', ({ input, params }) =>
      operatorPage(input, (req) => keyPage(req, params)),
    )
    .post('/console/keys/:account/:id', ({ input, params }) =>
      operatorForm(
        input,
        async (req, sent) => (await keyForm(req, params, sent))(req, sent),
        (req, message, sent) => keyPage(req, params, message, sent),
      ),
    )
    .get('/console/keys/:account/projects/:id', ({ input, params }) =>
      operatorPage(input, (req) => projectPage(req, params)),
    )
    .post('/console/keys/:account/projects/:id', ({ input, params }) =>
      operatorForm(
        input,
        async (req, sent) => (await projectForm(req, params, sent))(req, sent),
        (req, message, sent) => projectPage(req, params, message, sent),
      ),
    )
