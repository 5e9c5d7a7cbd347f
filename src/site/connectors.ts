import {
  authorizationFieldNames,
  type AuthorizationRequest,
  consentPath,
} from '../apps/connectors/metadata.ts'
import {
  approveConnector,
  checkRequest,
  type ClientRequest,
  denyConnector,
  describeClient,
  errorRedirect,
  getClientRequest,
  revokeOwnConnector,
} from '../apps/connectors/operations.ts'
import { listActingAgents } from '../apps/owners/owned-agents.ts'
import type { AppContext } from '../kernel/context.ts'
import { type ApiError, isApiError, rejectRequest } from '../kernel/errors.ts'
import { type Html, html, type Part } from '../kernel/html.ts'
import type { Scope } from '../kernel/scopes.ts'
import { msg, t, type Text } from '../kernel/words/message.ts'
import { redirectSource } from '../people/connectors/clients.ts'
import { listConnectors, presentConnectors } from '../people/connectors/connectors.ts'
import { describeError } from '../people/error-response.ts'
import type { Person } from '../people/people.ts'
import { messagePage, narrowPage, section } from './components.ts'
import { form } from './form.ts'
import { renderDate } from './format.ts'
import {
  alert,
  button,
  confirmDialog,
  type Form,
  hiddenField,
  postForm,
  ticksField,
} from './forms.ts'
import type { Layout, Page } from './layout.ts'
import { dataTable } from './lists.ts'
import {
  agentField,
  pageRoutes,
  privatePage,
  requireUser,
  userForm,
  type UserRequest,
  withErrorPage,
} from './session.ts'

/** The meaning of each scope for a program. */
const scopeTexts: Record<Scope, { label: Text; hint: Text }> = {
  read: { label: msg('Read'), hint: msg('See the agent, its apps, drafts, notes and credits.') },
  publish: {
    label: msg('Publish'),
    hint: msg('Publish, change and delete apps, and write reviews.'),
  },
  spend: { label: msg('Spend'), hint: msg('Spend the credits of the agent, up to its daily cap.') },
}

/** Reads the fields of a sign-in. Throws `bad_request` for one sent twice (RFC 6749, 3.1). */
function requestIn(valuesOf: (name: string) => string[]): AuthorizationRequest {
  const request: Record<string, string> = {}
  for (const name of authorizationFieldNames) {
    const [value, second] = valuesOf(name)
    if (second !== undefined)
      rejectRequest(
        t('The address has the field "{name}" twice. Start again in the program.', { name }),
      )
    if (value !== undefined && value !== '') request[name] = value
  }
  return { client_id: '', ...request }
}

const sentRequest = (sent: Form): AuthorizationRequest =>
  requestIn((name) => (sent.has(name) ? [sent.text(name)] : []))

/** Returns the policy by which the form may lead to the program. Browsers check its redirect. */
function policyFor(
  { layout }: UserRequest,
  { redirectUri }: ClientRequest,
): Record<string, string> {
  const policy = layout.headers['content-security-policy'] ?? ''
  const source = `form-action 'self' ${redirectSource(redirectUri)}`
  return { 'content-security-policy': policy.replace("form-action 'self'", () => source) }
}

/** Tells a person of a request that is not valid. Only their click tells the program. */
const invalidPage = (given: ClientRequest, error: ApiError): Page =>
  messagePage(
    t('This sign-in is not valid'),
    t('{name} sent a request that this server does not accept. {message}', {
      name: describeClient(given).name,
      message: describeError(error)?.message ?? '',
    }),
    html`<a class="button quiet" rel="noreferrer" href="${errorRedirect(given, error)}"
      >Return to the program</a
    >`,
    400,
  )

/** The page where a person allows a program to act as one of their agents. */
async function consentPage(req: UserRequest, message?: string, sent?: Form): Promise<Page> {
  const { ctx, visitor, token, request, query } = req
  const params = sent ? sentRequest(sent) : requestIn((name) => query.getAll(name))
  const given = await getClientRequest(ctx, visitor.person, params, request.headers)
  try {
    const scopes = checkRequest(given)
    const agents = await listActingAgents(ctx, visitor.person)
    const fields = consentFields(params, scopes, agents)
    const main = html`${clientFacts(given)} ${alert(message)}
    ${postForm(token, consentPath, fields)}`
    return narrowPage(t('Connect to your account?'), main, { headers: policyFor(req, given) })
  } catch (error) {
    if (isInvalid(error)) return invalidPage(given, error)
    throw error
  }
}

const isInvalid = (error: unknown): error is ApiError =>
  isApiError(error, 'invalid_authorization') ||
  isApiError(error, 'invalid_scope') ||
  isApiError(error, 'invalid_target')

function clientFacts(given: ClientRequest): Html {
  const { name, place, host } = describeClient(given)
  const origin = host
    ? html`<strong>${host}</strong> publishes this program.`
    : html`The program chose this name itself. It is not verified.`
  return html`<p class="lead">
      <strong><bdi>${name}</bdi></strong> wants to act as one of your agents.
    </p>
    <p>
      ${origin} It continues at <strong><bdi>${place}</bdi></strong
      >. Connect only if you started this sign-in there yourself. You can revoke the connector on
      your account page.
    </p>`
}

function consentFields(
  params: AuthorizationRequest,
  scopes: readonly Scope[],
  agents: readonly { handle: string }[],
): Html {
  const all = new Set<Scope>(['read', ...scopes])
  const ticks = ticksField({
    label: t('It may'),
    options: [...all].map((scope) => ({
      name: `allow-${scope}`,
      ...scopeTexts[scope],
      isFixed: scope === 'read',
    })),
  })
  const hidden = Object.entries(params).map(([name, value]) => hiddenField(name, value))
  const connect = button(t('Connect'), '', { name: 'act', value: 'approve' })
  const deny = button(t('Cancel'), 'quiet', { name: 'act', value: 'deny' })
  return html`${hidden}${agentField(t('Act as'), agents)}${ticks}
    <div class="actions">${connect}${deny}</div>`
}

const decide = (req: UserRequest, sent: Form): Promise<Response> => {
  const [params, handle] = [sentRequest(sent), sent.text('handle')]
  const allow = (['publish', 'spend'] as const).filter((scope) => sent.has(`allow-${scope}`))
  const then = ({ redirect }: { redirect: string }) => redirect
  const work =
    sent.text('act') === 'approve'
      ? form(approveConnector, {
          fields: () => ({ ...params, allow, ...(handle && { handle }) }),
          then,
        })
      : form(denyConnector, { fields: () => params, then })
  return work(req, sent)
}

const problemPage = (message: string): Page =>
  messagePage(t('This sign-in is not valid'), message, false, 400)

/** The page of sign-in with OAuth. */
export const connectorRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .get(consentPath, ({ input }) =>
      requireUser(input, (req) =>
        withErrorPage(req, async () => privatePage(req, await consentPage(req)), problemPage),
      ),
    )
    .post(consentPath, ({ input }) =>
      userForm(input, decide, (req, message, sent) =>
        consentPage(req, message, sent).catch(() => problemPage(message)),
      ),
    )

/** The path of the form that revokes a connector. */
const revokePath = '/account/connectors'

/** Lists the programs that act as agents of a person. */
export async function connectorSection(
  ctx: AppContext,
  token: string,
  person: Person,
): Promise<Part> {
  const all = await presentConnectors(ctx, await listConnectors(ctx, person.id))
  if (all.length === 0) return ''
  const rows = all.map(({ id, name, handle, scopes, created, used }): Part[] => {
    const revoke = confirmDialog({
      label: t('Revoke'),
      target: name,
      question: html`Revoke <bdi>${name}</bdi>?`,
      consequence: t('Its next call fails. It can ask you to connect again.'),
    })
    return [
      html`<bdi>${name}</bdi>`,
      html`<a href="/agents/${handle}"><bdi>@${handle}</bdi></a>`,
      scopes.map((scope) => scopeTexts[scope].label).join(', '),
      renderDate(Date.parse(created)),
      renderDate(Date.parse(used)),
      postForm(token, revokePath, html`${hiddenField('revoke', id)}${revoke}`, 'act'),
    ]
  })
  const heads = [
    { long: t('Program') },
    t('Agent'),
    t('May'),
    t('Connected'),
    t('Last active'),
    { unseen: t('Revoke') },
  ]
  return section(
    t('Connectors'),
    html`<p class="small">These programs signed in with your account and act as your agents.</p>
      ${dataTable(t('Connectors'), heads, rows)}`,
  )
}

/** Revokes a connector by the form on the account page. */
export const revokeConnectorForm = form(revokeOwnConnector, {
  params: (sent) => ({ id: sent.text('revoke') }),
  then: '/account',
})
