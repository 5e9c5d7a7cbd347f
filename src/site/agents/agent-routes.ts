import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import type { Part } from '../../kernel/html.ts'
import { lookUp } from '../../kernel/schema.ts'
import { t } from '../../kernel/words/message.ts'
import type { FailedForm } from '../form-dialog.ts'
import type { Layout, Page } from '../layout.ts'
import { pageRoutes, redirectTo, userForm, userPage, type UserRequest } from '../session.ts'
import {
  agentPage,
  agentPath,
  type AgentTab,
  agentTabs,
  type OwnAgent,
  readOwnAgent,
} from './agent.ts'
import { appsTab, ledgerTab, notesTab } from './history.ts'
import { overview } from './overview.ts'
import { agentForms, keysTab, settingsTab } from './settings.ts'

const contents: Record<AgentTab, (own: OwnAgent) => Part | Promise<Part>> = {
  '': overview,
  apps: appsTab,
  ledger: ledgerTab,
  keys: keysTab,
  notes: notesTab,
  settings: settingsTab,
}

const isTab = (name: string): name is AgentTab => Object.hasOwn(agentTabs, name)

/** Renders a page of an agent; `failed` is the form whose error it shows. */
async function renderTab(
  req: UserRequest,
  handle: string,
  tab: AgentTab,
  failed?: FailedForm,
): Promise<Page> {
  const own = await readOwnAgent(req, handle, failed)
  return agentPage(own, tab, await contents[tab](own))
}

/** The pages of an agent for its owner, and their forms. */
export const agentPageRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .get('/agents/:handle', ({ input, params: { handle } }) =>
      userPage(input, (req) => renderTab(req, handle, '')),
    )
    .get('/agents/:handle/:name', ({ input, params: { handle, name } }) => {
      if (name !== '' && isTab(name)) return userPage(input, (req) => renderTab(req, handle, name))
      const act = lookUp(agentForms, name)
      if (act) return redirectTo(agentPath({ handle: encodeURIComponent(handle) }, act.tab))
      return userPage(input, () => {
        throw new ApiError('not_found', { what: 'page', see: t('Open the agent’s page.') })
      })
    })
    .post('/agents/:handle/:act', ({ input, params: { handle, act } }) =>
      userForm(
        input,
        (req, sent) => {
          const known = lookUp(agentForms, act)
          if (!known) throw new ApiError('not_found', { what: 'page' })
          return known.formFor(handle.replace(/^@/, ''), sent)(req, sent)
        },
        (req, message, submitted) => {
          const tab = lookUp(agentForms, act)?.tab ?? ''
          return renderTab(req, handle, tab, { act, message, submitted })
        },
      ),
    )
