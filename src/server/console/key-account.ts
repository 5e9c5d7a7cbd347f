import type { KeyManager } from '../../gateway/accounts/key-settings.ts'
import { projectNameCharsMax } from '../../gateway/limits.ts'
import { ApiError } from '../../kernel/errors.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { msg, t } from '../../kernel/words/message.ts'
import * as keys from '../../money/keys/keys.ts'
import * as projects from '../../money/keys/projects.ts'
import { projectCounter } from '../../money/keys/restrictions.ts'
import { sumSpendingByPeriod } from '../../money/ledger/reports.ts'
import { listAudit } from '../../people/audit/audit.ts'
import { section, withQuery } from '../../site/components.ts'
import { form } from '../../site/form.ts'
import { renderDate } from '../../site/format.ts'
import { button, type Form, hiddenField, inputField, notice, postForm } from '../../site/forms.ts'
import {
  budgetLines,
  capFields,
  keyFields,
  keyPage,
  keyRefField,
  readCaps,
  readKeyParams,
  refOf,
} from '../../site/key-form.ts'
import type { Page } from '../../site/layout.ts'
import { dataTable } from '../../site/lists.ts'
import type { UserRequest } from '../../site/session.ts'
import { findKeyManager } from '../operator/grants.ts'
import { addAccountKey, addProject } from '../operator/key-operations.ts'
import { decisionHistory } from './audit.ts'
import { consolePage, getCredits, ownerLink } from './components.ts'
import { accountKeysPath, keysPath, keyTable } from './keys.ts'

const decisionsShown = 20

/** An account whose keys the operator manages, with its keys and projects. */
export interface KeyAccount {
  /** "@handle", the name of a person or a credit_id. */
  name: string
  manager: KeyManager
  keys: keys.Key[]
  projects: keys.Project[]
  isAgent: boolean
}

/** Throws `not_found`. */
export async function getKeyAccount({ ctx }: UserRequest, name: string): Promise<KeyAccount> {
  const found = await findKeyManager(ctx, name)
  if (!found) throw new ApiError('not_found', { what: 'account' })
  const { owner, kind } = found.manager.owner
  return {
    ...found,
    keys: await keys.list(ctx.db.read, owner),
    projects: await projects.list(ctx.db.read, owner),
    isAgent: kind === 'agent',
  }
}

/** The result of the last form, by the value of `done`. */
const doneTexts = new Map([
  ['save', msg('API key updated.')],
  ['revoke', msg('API key revoked. Requests with it fail now.')],
  ['project', msg('Project saved.')],
  ['remove', msg('Project deleted. Its keys stay, without its budgets.')],
])

async function projectTable({ ctx }: UserRequest, account: KeyAccount): Promise<Html> {
  const counters = account.projects.map(({ id }) => projectCounter(id))
  const spentOf = await sumSpendingByPeriod(ctx, counters)
  const row = (project: keys.Project): Part[] => [
    html`<a class="model-name" href="${accountKeysPath(account.name)}/projects/${project.id}"
      ><bdi>${project.name}</bdi></a
    >`,
    budgetLines(project, spentOf(projectCounter(project.id))),
    account.keys.filter((key) => key.project === project.id).length,
    renderDate(project.created),
  ]
  const heads = [{ long: t('Project') }, t('Spent / cap'), { number: t('Keys') }, t('Created')]
  return html`<div class="models keys">
    ${dataTable(t('Projects'), heads, account.projects.map(row))}
  </div>`
}

/** The name and the caps of a project. */
export const projectFields = (
  project: projects.ProjectSettings | undefined,
  typed: Form | undefined,
): Html => {
  const noCaps = { dailyCap: null, weeklyCap: null, monthlyCap: null }
  return html`${inputField({ label: t('Name'), name: 'name', max: projectNameCharsMax, value: typed?.text('name') ?? project?.name })}${capFields(project ?? noCaps, typed)}`
}

async function projectSection(req: UserRequest, account: KeyAccount, typed?: Form): Promise<Html> {
  const created = typed?.text('act') === 'project' ? typed : undefined
  const fields = html`${hiddenField('act', 'project')}${projectFields(undefined, created)}
    <p class="actions">${button(t('Create project'), 'quiet')}</p>`
  return section(
    t('Projects'),
    html`<p class="small">
        A project, such as a team, is a group of keys with budgets that they share.
      </p>
      ${account.projects.length > 0 && (await projectTable(req, account))}
      <details ${created && html` open`}>
        <summary>New project</summary>
        ${postForm(req.token, accountKeysPath(account.name), fields, 'form key-form')}
      </details>`,
  )
}

async function keySection(req: UserRequest, account: KeyAccount, typed?: Form): Promise<Html> {
  const { ctx, token } = req
  const { name, projects: all, isAgent } = account
  const created = typed?.text('act') === 'key' ? typed : undefined
  const empty = { ...keys.noSettings, name: null, dailyCap: keys.initialCap(ctx) }
  const fields = html`${keyRefField()}${hiddenField('act', 'key')}${keyFields(empty, { typed: created, isAgent, projects: all })}
    <p class="actions">${button(t('Create API key'), 'quiet')}</p>`
  const projectOf = (key: keys.Key): Part =>
    all.flatMap((project) => (project.id === key.project ? html`<bdi>${project.name}</bdi>` : []))
  const place = { head: t('Project'), of: projectOf }
  return section(
    t('API keys'),
    html`${account.keys.length > 0 ? await keyTable(ctx, account.keys, () => name, place) : html`<p class="small">No keys yet.</p>`}
      <details ${created && html` open`}>
        <summary>New API key</summary>
        ${postForm(token, accountKeysPath(name), fields, 'form key-form')}
      </details>`,
  )
}

/** Renders the keys and the projects of an account. Throws `not_found`. */
export async function keyAccountPage(
  req: UserRequest,
  name: string,
  message?: string,
  typed?: Form,
): Promise<Page> {
  const account = await getKeyAccount(req, name)
  const { owner } = account.manager
  const isUnowned = account.name === owner.owner
  const decisions = await listAudit(req.ctx, decisionsShown, account.name)
  const lead = html`${isUnowned ? t('Gateway account') : html`${account.isAgent ? t('Agent') : t('Wallet of')} ${ownerLink(account.name)}`}
    · ${await getCredits(req.ctx, owner)} credits ·
    <a href="${withQuery('/console/grants', { to: account.name })}">Grant credits</a>`
  const main = html`${notice(doneTexts.get(req.query.get('done') ?? ''))}
  ${await keySection(req, account, typed)}
  ${!account.isAgent && (await projectSection(req, account, typed))} ${decisionHistory(decisions)}`
  const above = [[keysPath, t('Keys')]] as const
  return consolePage({ place: keysPath, above, title: account.name, lead, message, main })
}

/** Returns the form that creates a key or a project of an account. */
export async function accountForm(req: UserRequest, name: string, sent: Form) {
  const account = await getKeyAccount(req, name)
  const [params, back] = [{ account: account.name }, accountKeysPath(account.name)]
  if (sent.text('act') === 'project') {
    const then = withQuery(back, { done: 'project' })
    return form(addProject, { params, fields: projectFieldsOf, then })
  }
  return form(addAccountKey, {
    params,
    fields: () => readKeyForm(req, account, sent),
    ref: refOf,
    then: ({ api_key: key }) =>
      keyPage(key, {
        purpose: t('Give it to {name}, whose credits it spends.', { name: account.name }),
        back,
      }),
  })
}

/** Reads a form with `projectFields`. Throws `bad_request`. */
export const projectFieldsOf = (sent: Form) => ({
  ...readCaps(sent),
  name: sent.text('name').trim(),
})

/** Reads a form with `keyFields`. Throws `bad_request`. */
export function readKeyForm({ ctx }: UserRequest, { isAgent }: KeyAccount, sent: Form) {
  const name = sent.text('name').trim()
  const params = isAgent
    ? { daily_cap: readCaps(sent).daily_cap ?? null }
    : readKeyParams(sent, ctx.clock.now())
  return { ...params, ...(name !== '' && { name }) }
}
