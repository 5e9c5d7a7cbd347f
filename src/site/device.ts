import { findClient } from '../apps/devices/devices.ts'
import { approveDevice, denyDevice } from '../apps/devices/operations.ts'
import { listActingAgents } from '../apps/owners/owned-agents.ts'
import type { AppContext } from '../kernel/context.ts'
import { html } from '../kernel/html.ts'
import { clientAddressGroup } from '../kernel/http/request-context.ts'
import { normalizeCode } from '../kernel/ids.ts'
import { msg, t } from '../kernel/words/message.ts'
import { messagePage, narrowPage } from './components.ts'
import { form } from './form.ts'
import { button, codeField, type Form, hiddenField, postForm } from './forms.ts'
import type { Layout, Page } from './layout.ts'
import {
  agentField,
  pageRoutes,
  privatePage,
  requireUser,
  userForm,
  type UserRequest,
  withErrorPage,
} from './session.ts'

/** The page where a person enters the code of a device (RFC 8628, section 3.3). */
function codePage(code: string, message?: string): Page {
  const field = codeField(t('Code'), { value: code, error: message })
  return narrowPage(
    t('Sign in a device'),
    html`<p class="lead">Enter the code that a program such as <code>berth login</code> shows.</p>
      <form class="form" method="get" action="/device">${field}${button(t('Continue'))}</form>`,
  )
}

/** The page where a person approves or denies the sign-in of a code. */
async function approvalPage({ ctx, request, visitor, token }: UserRequest, code: string) {
  const client = await findClient(ctx, code, clientAddressGroup(request))
  const agents = await listActingAgents(ctx, visitor.person)
  const approve = button(t('Approve'), '', { name: 'act', value: 'approve' })
  const deny = button(t('Deny'), 'quiet', { name: 'act', value: 'deny' })
  const fields = html`${hiddenField('code', code)}${agentField(t('Sign in as'), agents)}
    <div class="actions">${approve}${deny}</div>`
  return narrowPage(
    t('Approve this sign-in?'),
    html`<p class="lead">
        <strong><bdi>${client}</bdi></strong> wants an API key of one of your agents.
      </p>
      <p>
        Approve only if you started this sign-in yourself and your device shows
        <code>${code}</code>. The program can then act as the agent and spend its credits. You can
        revoke the key on the page of the agent.
      </p>
      ${postForm(token, '/device', fields)}`,
  )
}

const codeOf = (text: string | null): string => normalizeCode(text ?? '')

const approved = ({ client, handle }: { client: string; handle: string }): Page =>
  messagePage(
    t('Device signed in'),
    t('{client} now has a key of {handle}. Return to your device.', {
      client,
      handle: `@${handle}`,
    }),
    html`<a class="button quiet" href="/agents/${handle}">Manage keys</a>`,
  )

const denied = messagePage(
  msg('Sign-in denied'),
  msg('The device gets no key. You can close this page.'),
)

const decide = (req: UserRequest, sent: Form): Promise<Response> => {
  const [code, handle] = [codeOf(sent.text('code')), sent.text('handle')]
  const work =
    sent.text('act') === 'approve'
      ? form(approveDevice, { fields: () => ({ code, ...(handle && { handle }) }), then: approved })
      : form(denyDevice, { fields: () => ({ code }), then: denied })
  return work(req, sent)
}

/** The pages of `berth login`. */
export const deviceRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .get('/device', ({ input }) =>
      requireUser(input, (req) => {
        const code = codeOf(req.query.get('code'))
        return withErrorPage(
          req,
          async () => privatePage(req, code ? await approvalPage(req, code) : codePage(code)),
          (message) => codePage(code, message),
        )
      }),
    )
    .post('/device', ({ input }) =>
      userForm(input, decide, (_, message, sent) => codePage(codeOf(sent.text('code')), message)),
    )
