import * as accountKeys from '../../gateway/accounts/keys.ts'
import { overlapHoursMax } from '../../gateway/accounts/limits.ts'
import * as accountProjects from '../../gateway/accounts/projects.ts'
import { ApiError } from '../../kernel/errors.ts'
import { html } from '../../kernel/html.ts'
import { capOf } from '../../money/keys/keys.ts'
import { projectCounter } from '../../money/keys/limits.ts'
import { findLatestSpending, sumSpendingByPeriod } from '../../money/ledger/spending.ts'
import { section, statList, withQuery } from '../../site/components.ts'
import { confirmDialog } from '../../site/confirm-dialog.ts'
import { renderDate, renderDateTime } from '../../site/format.ts'
import { button, type Form, form, hiddenField, inputField, rejectForm } from '../../site/forms.ts'
import { budgetStats, keyFields, readCaps } from '../../site/key-form.ts'
import type { Page } from '../../site/layout.ts'
import { createAndShowKey, keyRefField } from '../../site/new-key.ts'
import { redirectTo, type UserRequest } from '../../site/session.ts'
import { consolePage } from './components.ts'
import { auditChange, getKeyAccount, projectFields, readKeyForm } from './key-account.ts'
import { accountKeysPath, keysPath, keyTable } from './keys.ts'

/** Names a key or a project of an account in a path. */
interface ItemPath {
  account: string
  id: string
}

async function getKey(req: UserRequest, path: ItemPath) {
  const account = await getKeyAccount(req, path.account)
  const key = account.keys.find(({ prefix }) => prefix === path.id)
  if (!key) throw new ApiError('not_found', { what: 'key' })
  return { account, key }
}

const act = (name: string) => hiddenField('act', name)

/** Renders the use and the settings of a key. Throws `not_found`. */
export async function keyPage(
  req: UserRequest,
  path: ItemPath,
  message?: string,
  sent?: Form,
): Promise<Page> {
  const { ctx, token } = req
  const { account, key } = await getKey(req, path)
  const { prefix } = key
  const counter = capOf(key).key
  const spent = (await sumSpendingByPeriod(ctx, [counter]))(counter)
  const used = (await findLatestSpending(ctx, [counter])).get(counter)
  const action = `${accountKeysPath(account.name)}/${prefix}`
  const [typed, rotated] = ['save', 'rotate'].map((name) =>
    sent?.text('act') === name ? sent : undefined,
  )
  const settings = html`${act('save')}${keyFields(key, { typed, ...account })}
    <p class="actions">
      ${button('Save')}<a class="button quiet" href="${accountKeysPath(account.name)}">Cancel</a>
    </p>`
  const hint = 'The old key still works for this time. 0 ends it at once.'
  const rotation = html`${act('rotate')}${keyRefField()}${inputField({ label: 'Overlap in hours', name: 'overlap_hours', type: 'number', value: rotated?.text('overlap_hours') ?? 24, hint })}${button('Rotate key', 'quiet')}`
  const revocation = html`${act('revoke')}${confirmDialog({
    label: 'Revoke key',
    question: html`Revoke <code>${prefix}…</code>?`,
    consequence: 'Apps and scripts that use this key stop working immediately.',
  })}`
  const main = html`${statList([
    ...budgetStats(key, spent),
    ['Last used', used ? renderDate(used.day) : 'Never'],
  ])}
  ${section('Settings', form(token, action, settings, 'form key-form'))}
  ${section(
    'Rotate',
    html`<p class="small">
        Creates a key with the same settings, which goes on with this spending.
      </p>
      ${form(token, action, rotation)}`,
  )}
  ${section('Revoke', form(token, action, revocation, 'act'))}`
  const lead = html`<code>${prefix}…</code> of
    <a href="${accountKeysPath(account.name)}"><bdi>${account.name}</bdi></a
    >, created ${renderDateTime(key.created)}`
  return consolePage({ place: keysPath, title: key.name ?? 'Unnamed key', lead, message, main })
}

/** Changes, rotates or revokes a key. Throws `not_found`, `bad_request`. */
export async function submitKey(req: UserRequest, path: ItemPath, sent: Form): Promise<Response> {
  const { ctx } = req
  const { account, key } = await getKey(req, path)
  const { name, manager } = account
  const [did, back] = [sent.text('act'), accountKeysPath(name)]
  const done = async (action: string): Promise<Response> => {
    await auditChange(req, account, `keys ${action}`, key.prefix)
    return redirectTo(withQuery(back, { done: did }))
  }
  if (did === 'save') {
    await accountKeys.edit(ctx, manager, key.prefix, readKeyForm(req, account, sent))
    return done('change')
  }
  if (did === 'revoke') {
    await accountKeys.revoke(ctx, manager, key.prefix)
    return done('revoke')
  }
  if (did !== 'rotate') throw new ApiError('not_found', { what: 'action' })
  const hours = readOverlap(sent)
  return createAndShowKey(req, sent, {
    create: async () => {
      const params = { overlap_hours: hours }
      const made = await accountKeys.rotate(ctx, manager, key.prefix, params)
      await auditChange(req, account, 'keys rotate', `${key.prefix} by ${made.id}`)
      return made.api_key
    },
    purpose: `It replaces ${key.prefix}…, which ${hours === 0 ? 'has ended' : `works for ${hours} more hours`}.`,
    back,
  })
}

function readOverlap(sent: Form): number {
  const text = sent.text('overlap_hours').trim()
  const hours = Number(text || NaN)
  if (hours >= 0 && hours <= overlapHoursMax) return hours
  rejectForm(`Enter the overlap as a number of hours from 0 to ${overlapHoursMax}.`)
}

async function getProject(req: UserRequest, path: ItemPath) {
  const account = await getKeyAccount(req, path.account)
  const project = account.projects.find(({ id }) => id === path.id)
  if (!project) throw new ApiError('not_found', { what: 'project' })
  return { account, project }
}

/** Renders the budgets and the keys of a project. Throws `not_found`. */
export async function projectPage(
  req: UserRequest,
  path: ItemPath,
  message?: string,
  sent?: Form,
): Promise<Page> {
  const { ctx, token } = req
  const { account, project } = await getProject(req, path)
  const counter = projectCounter(project.id)
  const spent = (await sumSpendingByPeriod(ctx, [counter]))(counter)
  const [back, keys] = [
    accountKeysPath(account.name),
    account.keys.filter((key) => key.project === project.id),
  ]
  const action = `${back}/projects/${project.id}`
  const typed = sent?.text('act') === 'project' ? sent : undefined
  const settings = html`${act('project')}${projectFields(project, typed)}
    <p class="actions">${button('Save')}<a class="button quiet" href="${back}">Cancel</a></p>`
  const removal = html`${act('remove')}${confirmDialog({
    label: 'Delete project',
    question: html`Delete <bdi>${project.name}</bdi>?`,
    consequence: 'Its keys stay and work on, without its budgets.',
  })}`
  const place = { head: 'Project', of: () => html`<bdi>${project.name}</bdi>` }
  const table = keys.length > 0 && (await keyTable(ctx, keys, () => account.name, place))
  const main = html`${statList(budgetStats(project, spent))}
  ${section('Settings', form(token, action, settings, 'form key-form'))}
  ${table && section('API keys', html`${table}`)}
  ${section('Delete', form(token, action, removal, 'act'))}`
  const lead = html`Project of <a href="${back}"><bdi>${account.name}</bdi></a
    >, created ${renderDate(project.created)}`
  return consolePage({ place: keysPath, title: project.name, lead, message, main })
}

/** Changes or deletes a project. Throws `not_found`, `bad_request`. */
export async function submitProject(
  req: UserRequest,
  path: ItemPath,
  sent: Form,
): Promise<Response> {
  const { ctx } = req
  const { account, project } = await getProject(req, path)
  const did = sent.text('act')
  if (did === 'remove') {
    await accountProjects.remove(ctx, account.manager, project.id)
    await auditChange(req, account, 'projects remove', project.id)
  } else if (did === 'project') {
    const params = { ...readCaps(sent), name: sent.text('name').trim() }
    await accountProjects.edit(ctx, account.manager, project.id, params)
    await auditChange(req, account, 'projects change', project.id)
  } else throw new ApiError('not_found', { what: 'action' })
  return redirectTo(withQuery(accountKeysPath(account.name), { done: did }))
}
