import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import { checkBackup, downloadBackup, makeBackup, removeBackup } from '../../operator/backups.ts'
import type { Decision } from '../../operator/decisions.ts'
import { rejectForm, type SubmittedForm } from '../forms.ts'
import type { Layout, Page } from '../layout.ts'
import { redirectTo, type SignedInRequest } from '../session.ts'
import {
  applyDecision,
  operatorForm,
  operatorName,
  operatorPage,
  requireOperator,
} from './access.ts'
import { agentDecisions, agentPage, agentsPage } from './agents.ts'
import { appDecisions, appPage, verdicts } from './app.ts'
import { auditPage } from './audit.ts'
import { backupsPage } from './backups.ts'
import { giveCredits, grantsPage, retryGrant } from './grants.ts'
import { modelsPage } from './models.ts'
import { overviewPage } from './overview.ts'
import { decidePerson, peoplePage, personPage } from './people.ts'
import { queuePage } from './queue.ts'
import { settingsPage } from './settings.ts'
import { upstreamsPage } from './upstreams.ts'

/** The operator's console. */
export const consoleRoutes = (ctx: AppContext, layout: Layout) =>
  new Elysia()
    .use(pageRoutes(ctx, layout))
    .use(decisionRoutes(ctx, layout))
    .use(backupRoutes(ctx, layout))

const pages: Record<string, (signedIn: SignedInRequest) => Page | Promise<Page>> = {
  '': ({ ctx }) => overviewPage(ctx),
  '/queue': queuePage,
  '/agents': agentsPage,
  '/people': peoplePage,
  '/upstreams': ({ ctx }) => upstreamsPage(ctx),
  '/models': modelsPage,
  '/settings': ({ ctx }) => settingsPage(ctx),
  '/audit': auditPage,
  '/backups': backupsPage,
}

function pageRoutes(ctx: AppContext, layout: Layout) {
  const router = new Elysia()
    .get('/console/grants', ({ request }) => requireOperator({ ctx, layout, request }, grantsPage))
    .get('/console/apps/:id', ({ request, params }) =>
      operatorPage({ ctx, layout, request }, (signedIn) => appPage(signedIn, params.id)),
    )
    .get('/console/agents/:handle', ({ request, params }) =>
      operatorPage({ ctx, layout, request }, (signedIn) => agentPage(signedIn, params.handle)),
    )
    .get('/console/people/:name', ({ request, params }) =>
      operatorPage({ ctx, layout, request }, (signedIn) => personPage(signedIn, params.name)),
    )
  for (const [path, view] of Object.entries(pages)) {
    router.get(`/console${path}`, ({ request }) => operatorPage({ ctx, layout, request }, view))
  }
  return router
}

/** Decides about an app; the verdict on an appeal stands before its answer. */
async function decideApp(
  signedIn: SignedInRequest,
  id: string,
  form: SubmittedForm,
): Promise<Response> {
  const [name, why] = [form.text('decision'), form.text('why').trim()]
  const message = verdicts.has(name) ? { name: 'decide', why: `${name} ${why}` } : { name, why }
  await applyDecision(signedIn, appDecisions, { ...message, item: id })
  return redirectTo(`/console/apps/${id}`)
}

const blocking: Decision[] = ['block', 'unblock']

/** Blocks a page, or lifts that. Refuses bad_request. */
async function decideBlock(signedIn: SignedInRequest, form: SubmittedForm): Promise<void> {
  const [name, why] = [form.text('decision'), form.text('why')]
  const item = form.text('sha256').trim().toLowerCase()
  if (!/^[0-9a-f]{64}$/.test(item)) rejectForm('A SHA-256 is 64 digits of 0-9 and a-f.')
  await applyDecision(signedIn, blocking, { name, item, why })
}

/** A form of the console at an address: what it does, and its page again when it is refused. */
function decisionRoutes(ctx: AppContext, layout: Layout) {
  const none = { parse: 'none' } as const
  return new Elysia()
    .post(
      '/console/apps/:id',
      ({ request, params: { id } }) =>
        operatorForm(
          { ctx, layout, request },
          (signedIn, form) => decideApp(signedIn, id, form),
          (signedIn, message, submitted) => appPage(signedIn, id, message, submitted),
        ),
      none,
    )
    .post(
      '/console/agents/:handle',
      ({ request, params: { handle } }) =>
        operatorForm(
          { ctx, layout, request },
          async (signedIn, form) => {
            const [name, why] = [form.text('decision'), form.text('why')]
            await applyDecision(signedIn, agentDecisions, { name, item: `@${handle}`, why })
            return redirectTo(`/console/agents/${handle}`)
          },
          (signedIn, message, submitted) => agentPage(signedIn, handle, message, submitted),
        ),
      none,
    )
    .post(
      '/console/people/:name',
      ({ request, params: { name } }) =>
        operatorForm(
          { ctx, layout, request },
          (signedIn, form) => decidePerson(signedIn, name, form),
          (signedIn, message, submitted) => personPage(signedIn, name, message, submitted),
        ),
      none,
    )
    .post(
      '/console/blocklist',
      ({ request }) =>
        operatorForm(
          { ctx, layout, request },
          async (signedIn, form) => {
            await decideBlock(signedIn, form)
            return redirectTo('/console/queue')
          },
          queuePage,
        ),
      none,
    )
    .post(
      '/console/rescan',
      ({ request }) =>
        operatorForm(
          { ctx, layout, request },
          async (signedIn) => {
            await applyDecision(signedIn, ['rescan'], { name: 'rescan', item: 'all', why: '' })
            return redirectTo('/console/queue')
          },
          queuePage,
        ),
      none,
    )
    .post(
      '/console/grants',
      ({ request }) => operatorForm({ ctx, layout, request }, giveCredits, retryGrant),
      none,
    )
}

/** Backups. */
const backupRoutes = (ctx: AppContext, layout: Layout) =>
  new Elysia()
    .get('/console/backups/:name', ({ request, params: { name } }) =>
      requireOperator({ ctx, layout, request }, async () => {
        const headers = {
          'content-type': 'application/x-tar',
          'content-disposition': `attachment; filename="berth-${name}.tar"`,
          'cache-control': 'no-store',
        }
        return new Response(await downloadBackup(ctx, name), { headers })
      }),
    )
    .post(
      '/console/backups',
      ({ request }) =>
        operatorForm(
          { ctx, layout, request },
          async (signedIn) => {
            await makeBackup(ctx, operatorName(signedIn))
            return redirectTo('/console/backups')
          },
          backupsPage,
        ),
      { parse: 'none' },
    )
    .post(
      '/console/backups/:name',
      ({ request, params: { name } }) =>
        operatorForm(
          { ctx, layout, request },
          async (signedIn, form) => {
            const act = form.text('act')
            if (act === 'check') checkBackup(ctx, name)
            else if (act === 'remove') await removeBackup(ctx, name, operatorName(signedIn))
            else throw new ApiError('not_found', { what: 'address' })
            return redirectTo('/console/backups')
          },
          backupsPage,
        ),
      { parse: 'none' },
    )
