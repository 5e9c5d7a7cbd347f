import type { AppContext } from '../context.ts'
import { type Html, html } from '../core/html.ts'
import type { Agent } from '../hosting/agents/agents.ts'
import * as notes from '../hosting/notifications/notifications.ts'
import { listActingAgents } from '../hosting/people/owned-agents.ts'
import { renderNote } from './agents/agent.ts'
import { alert, button, form } from './forms.ts'
import type { Layout, Page } from './layout.ts'
import { emptyState } from './lists.ts'
import { pageRoutes, redirectTo, userForm, userPage, type UserRequest } from './session.ts'

/** Notifications on the page; those of one agent are on the page of the agent. */
const notesMax = 50

/** The notifications of a person: those of all their agents. */
export const notificationRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .get('/notifications', ({ input }) => userPage(input, (req) => notificationsPage(req)))
    .post('/notifications', ({ input }) =>
      userForm(
        input,
        async (req) => {
          const agents = await listActingAgents(req.ctx, req.visitor.person)
          for (const { id } of agents) await notes.markRead(req.ctx, id, 'all')
          return redirectTo('/notifications')
        },
        (req, message) => notificationsPage(req, message),
      ),
    )

interface AgentNote {
  agent: Agent
  note: notes.Note
}

async function listAgentNotes(ctx: AppContext, agents: Agent[]): Promise<AgentNote[]> {
  const lists = await Promise.all(
    agents.map(async (agent) => {
      const found = await notes.listNotes(ctx, agent.id, { unread: false, limit: notesMax })
      return found.map((note) => ({ agent, note }))
    }),
  )
  return lists
    .flat()
    .toSorted((a, b) => b.note.at - a.note.at || b.note.number - a.note.number)
    .slice(0, notesMax)
}

async function notificationsPage(req: UserRequest, message?: string): Promise<Page> {
  const { ctx, token, visitor } = req
  const agents = await listActingAgents(ctx, visitor.person)
  const found = await listAgentNotes(ctx, agents)
  const unread = found.filter(({ note }) => note.read === null).length
  const main = html`<div class="narrow">
    <div class="head page-head">
      <h1>Notifications</h1>
      ${unread > 0 && form(token, '/notifications', button('Mark all as read', 'quiet slim'), 'act')}
    </div>
    ${alert(message)} ${found.length === 0 ? nothingYet : noteList(found, agents.length > 1)}
  </div>`
  return { title: 'Notifications', main }
}

const noteList = (found: AgentNote[], hasSeveralAgents: boolean): Html =>
  html`<ul class="rows">
    ${found.map(({ agent, note }) => renderNote(note, hasSeveralAgents ? agent.handle : undefined))}
  </ul>`

const nothingYet = emptyState(
  'No notifications yet',
  'Reviews, comments, remixes and sales of your apps appear here.',
  html`<a class="button quiet" href="/new">Make an app</a>`,
)
