import { overlapHoursMax } from '../../gateway/limits.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { html } from '../../kernel/html.ts'
import { t } from '../../kernel/words/message.ts'
import { capOf } from '../../money/keys/keys.ts'
import { projectCounter } from '../../money/keys/restrictions.ts'
import { findLatestSpending, sumSpendingByPeriod } from '../../money/ledger/reports.ts'
import { section, statList, withQuery } from '../../site/components.ts'
import { form } from '../../site/form.ts'
import { renderDate, renderDateTime } from '../../site/format.ts'
import {
  button,
  confirmDialog,
  type Form,
  hiddenField,
  inputField,
  postForm,
} from '../../site/forms.ts'
import {
  budgetStats,
  keyFields,
  keyPage as showKey,
  keyRefField,
  refOf,
} from '../../site/key-form.ts'
import type { Page } from '../../site/layout.ts'
import type { UserRequest } from '../../site/session.ts'
import {
  changeAccountKey,
  changeProject,
  removeProject,
  revokeAccountKey,
  rotateAccountKey,
} from '../operator/key-operations.ts'
import { consolePage } from './components.ts'
import { getKeyAccount, projectFields, projectFieldsOf, readKeyForm } from './key-account.ts'
import { aboveKeys, accountKeysPath, keysPath, keyTable } from './keys.ts'

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
      ${button(t('Save'))}<a class="button quiet" href="${accountKeysPath(account.name)}">Cancel</a>
    </p>`
  const hint = t('The old key still works for this time. 0 ends it at once.')
  const rotation = html`${act('rotate')}${keyRefField()}${inputField({ label: t('Overlap in hours'), name: 'overlap_hours', type: 'number', value: rotated?.text('overlap_hours') ?? 24, hint })}${button(t('Rotate key'), 'quiet')}`
  const revocation = html`${act('revoke')}${confirmDialog({
    label: t('Revoke key'),
    question: html`Revoke <code>${prefix}…</code>?`,
    consequence: t('Apps and scripts that use this key stop working immediately.'),
  })}`
  const main = html`${statList([
    ...budgetStats(key, spent),
    [t('Last used'), used ? renderDate(used.day) : t('Never')],
  ])}
  ${section(t('Settings'), postForm(token, action, settings, 'form key-form'))}
  ${section(
    t('Rotate'),
    html`<p class="small">
        Creates a key with the same settings, which goes on with this spending.
      </p>
      ${postForm(token, action, rotation)}`,
  )}
  ${section(t('Revoke'), postForm(token, action, revocation, 'act'))}`
  return consolePage({
    place: keysPath,
    above: aboveKeys(account.name),
    title: key.name ?? t('Unnamed key'),
    lead: html`<code>${prefix}…</code>, created ${renderDateTime(key.created)}`,
    message,
    main,
  })
}

/** Returns the form that changes, rotates or revokes a key. */
export async function keyForm(req: UserRequest, path: ItemPath, sent: Form) {
  const { account, key } = await getKey(req, path)
  const [act, back] = [sent.text('act'), accountKeysPath(account.name)]
  const to = {
    params: { account: account.name, prefix: key.prefix },
    then: withQuery(back, { done: act }),
  }
  if (act === 'revoke') return form(revokeAccountKey, to)
  if (act === 'save') {
    return form(changeAccountKey, { ...to, fields: () => readKeyForm(req, account, sent) })
  }
  if (act !== 'rotate') throw new ApiError('not_found', { what: 'action' })
  const hours = readOverlap(sent)
  const end = hours === 0 ? t('has ended') : t('works for {hours} more hours', { hours })
  return form(rotateAccountKey, {
    ...to,
    fields: () => ({ overlap_hours: hours }),
    ref: refOf,
    then: ({ api_key: text }) =>
      showKey(text, {
        purpose: t('It replaces {prefix}…, which {end}.', { prefix: key.prefix, end }),
        back,
      }),
  })
}

function readOverlap(sent: Form): number {
  const text = sent.text('overlap_hours').trim()
  const hours = Number(text || NaN)
  if (hours >= 0 && hours <= overlapHoursMax) return hours
  rejectRequest(
    t('Enter the overlap as a number of hours from 0 to {overlapHoursMax}.', { overlapHoursMax }),
  )
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
    <p class="actions">${button(t('Save'))}<a class="button quiet" href="${back}">Cancel</a></p>`
  const removal = html`${act('remove')}${confirmDialog({
    label: t('Delete project'),
    question: html`Delete <bdi>${project.name}</bdi>?`,
    consequence: t('Its keys stay and work on, without its budgets.'),
  })}`
  const place = { head: t('Project'), of: () => html`<bdi>${project.name}</bdi>` }
  const table = keys.length > 0 && (await keyTable(ctx, keys, () => account.name, place))
  const main = html`${statList(budgetStats(project, spent))}
  ${section(t('Settings'), postForm(token, action, settings, 'form key-form'))}
  ${table && section(t('API keys'), html`${table}`)}
  ${section(t('Delete'), postForm(token, action, removal, 'act'))}`
  return consolePage({
    place: keysPath,
    above: aboveKeys(account.name),
    title: project.name,
    lead: html`Project, created ${renderDate(project.created)}`,
    message,
    main,
  })
}

/** Returns the form that changes or deletes a project. */
export async function projectForm(req: UserRequest, path: ItemPath, sent: Form) {
  const { account, project } = await getProject(req, path)
  const act = sent.text('act')
  const to = {
    params: { account: account.name, project: project.id },
    then: withQuery(accountKeysPath(account.name), { done: act }),
  }
  if (act === 'remove') return form(removeProject, to)
  if (act === 'project') return form(changeProject, { ...to, fields: projectFieldsOf })
  throw new ApiError('not_found', { what: 'action' })
}
