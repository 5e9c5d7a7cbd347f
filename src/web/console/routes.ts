import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import { checkBackup, downloadBackup, makeBackup, removeBackup } from '../../operator/backups.ts'
import type { Decision } from '../../operator/decisions.ts'
import type { Layout, Page } from '../layout.ts'
import { goTo, type Own } from '../people/desk.ts'
import { type Form, refuse } from '../people/form.ts'
import { agentDecisions, agentPage, agentsPage } from './agents.ts'
import { auditPage } from './audit.ts'
import { backupsPage } from './backups.ts'
import { appDecisions, casePage, verdicts } from './case.ts'
import { askAgain, give, grantsPage } from './grants.ts'
import { modelsPage } from './models.ts'
import { asOperator, byOf, decide, operatorForm, operatorPage } from './operator.ts'
import { overviewPage } from './overview.ts'
import { decidePerson, peoplePage, personPage } from './people.ts'
import { queuePage } from './queue.ts'
import { settingsPage } from './settings.ts'
import { upstreamsPage } from './upstreams.ts'

/** The operator's console. */
export const consolePages = (ctx: AppContext, layout: Layout) =>
  new Elysia().use(looking(ctx, layout)).use(deciding(ctx, layout)).use(keeping(ctx, layout))

const pages: Record<string, (own: Own) => Page | Promise<Page>> = {
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

function looking(ctx: AppContext, layout: Layout) {
  const router = new Elysia()
    .get('/console/grants', ({ request }) => asOperator({ ctx, layout, request }, grantsPage))
    .get('/console/apps/:id', ({ request, params }) =>
      operatorPage({ ctx, layout, request }, (own) => casePage(own, params.id)),
    )
    .get('/console/agents/:handle', ({ request, params }) =>
      operatorPage({ ctx, layout, request }, (own) => agentPage(own, params.handle)),
    )
    .get('/console/people/:name', ({ request, params }) =>
      operatorPage({ ctx, layout, request }, (own) => personPage(own, params.name)),
    )
  for (const [path, view] of Object.entries(pages)) {
    router.get(`/console${path}`, ({ request }) => operatorPage({ ctx, layout, request }, view))
  }
  return router
}

/** Decides about an app; the verdict on an appeal stands before its answer. */
async function decideApp(own: Own, id: string, form: Form): Promise<Response> {
  const [name, why] = [form.text('decision'), form.text('why').trim()]
  const said = verdicts.has(name) ? { name: 'decide', why: `${name} ${why}` } : { name, why }
  await decide(own, appDecisions, { ...said, item: id })
  return goTo(`/console/apps/${id}`)
}

const blocking: Decision[] = ['block', 'unblock']

/** Blocks a page, or lifts that. Refuses bad_request. */
async function decideBlock(own: Own, form: Form): Promise<void> {
  const [name, why] = [form.text('decision'), form.text('why')]
  const item = form.text('sha256').trim().toLowerCase()
  if (!/^[0-9a-f]{64}$/.test(item)) refuse('A SHA-256 is 64 digits of 0-9 and a-f.')
  await decide(own, blocking, { name, item, why })
}

/** A form of the console at an address: what it does, and its page again when it is refused. */
function deciding(ctx: AppContext, layout: Layout) {
  const none = { parse: 'none' } as const
  return new Elysia()
    .post(
      '/console/apps/:id',
      ({ request, params: { id } }) =>
        operatorForm(
          { ctx, layout, request },
          (own, form) => decideApp(own, id, form),
          (own, said, sent) => casePage(own, id, said, sent),
        ),
      none,
    )
    .post(
      '/console/agents/:handle',
      ({ request, params: { handle } }) =>
        operatorForm(
          { ctx, layout, request },
          async (own, form) => {
            const [name, why] = [form.text('decision'), form.text('why')]
            await decide(own, agentDecisions, { name, item: `@${handle}`, why })
            return goTo(`/console/agents/${handle}`)
          },
          (own, said, sent) => agentPage(own, handle, said, sent),
        ),
      none,
    )
    .post(
      '/console/people/:name',
      ({ request, params: { name } }) =>
        operatorForm(
          { ctx, layout, request },
          (own, form) => decidePerson(own, name, form),
          (own, said, sent) => personPage(own, name, said, sent),
        ),
      none,
    )
    .post(
      '/console/blocklist',
      ({ request }) =>
        operatorForm(
          { ctx, layout, request },
          async (own, form) => {
            await decideBlock(own, form)
            return goTo('/console/queue')
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
          async (own) => {
            await decide(own, ['rescan'], { name: 'rescan', item: 'all', why: '' })
            return goTo('/console/queue')
          },
          queuePage,
        ),
      none,
    )
    .post(
      '/console/grants',
      ({ request }) => operatorForm({ ctx, layout, request }, give, askAgain),
      none,
    )
}

/** Backups. */
const keeping = (ctx: AppContext, layout: Layout) =>
  new Elysia()
    .get('/console/backups/:name', ({ request, params: { name } }) =>
      asOperator({ ctx, layout, request }, async () => {
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
          async (own) => {
            await makeBackup(ctx, byOf(own))
            return goTo('/console/backups')
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
          async (own, form) => {
            const act = form.text('act')
            if (act === 'check') checkBackup(ctx, name)
            else if (act === 'remove') await removeBackup(ctx, name, byOf(own))
            else throw new ApiError('not_found', { what: 'address' })
            return goTo('/console/backups')
          },
          backupsPage,
        ),
      { parse: 'none' },
    )
