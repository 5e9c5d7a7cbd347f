import * as consents from '../apps/ai/consents.ts'
import { revokeConsent } from '../apps/ai/operations.ts'
import { findApp } from '../apps/apps.ts'
import { mayOpenAs } from '../apps/audience/access.ts'
import type { AppContext } from '../kernel/context.ts'
import { html, type Part } from '../kernel/html.ts'
import { t } from '../kernel/words/message.ts'
import { sumSpendingByPeriod } from '../money/ledger/reports.ts'
import type { Person } from '../people/people.ts'
import { section } from './components.ts'
import { confirmDialog } from './confirm-dialog.ts'
import { form } from './form.ts'
import { renderCredits, renderDate, spendingBar } from './format.ts'
import { hiddenField, postForm } from './forms.ts'
import { dataTable } from './lists.ts'

/** The path of the form that revokes a consent. */
const path = '/account/apps'

/** Returns the title of an app that a person may open still. */
async function titleFor(ctx: AppContext, id: string, person: Person): Promise<string | undefined> {
  const app = await findApp(ctx, id)
  return app && (await mayOpenAs(ctx, app, { person })) ? app.title : undefined
}

/** Lists what a person has agreed to for apps, and what each app spent. */
export async function appConsents(ctx: AppContext, token: string, person: Person): Promise<Part> {
  const all = await consents.listConsents(ctx, person)
  if (all.length === 0) return ''
  const counters = all.map(({ app }) => consents.playerCounter(app, person.id))
  const spentBy = await sumSpendingByPeriod(ctx, counters)
  const titles = await Promise.all(all.map(({ app }) => titleFor(ctx, app, person)))
  const rows = all.map(({ app, dailyCap, isRemembered, at }, index): Part[] => {
    const title = titles[index] ?? t('Closed app')
    const { day, month } = spentBy(consents.playerCounter(app, person.id))
    const revoke = confirmDialog({
      label: t('Revoke'),
      target: title,
      question: html`Revoke what <bdi>${title}</bdi> may use?`,
      consequence: t('The app asks you again before its next call.'),
    })
    return [
      html`<a href="/a/${app}"><bdi>${title}</bdi></a>`,
      spendingBar(day, dailyCap),
      renderCredits(month),
      isRemembered ? t('Until revoked') : html`On ${renderDate(at)}`,
      postForm(token, path, html`${hiddenField('revoke', app)}${revoke}`, 'act'),
    ]
  })
  const heads = [
    { long: t('App') },
    t('Spent today / cap'),
    t('This month'),
    t('Agreed'),
    { unseen: t('Revoke') },
  ]
  return section(
    t('Apps that use AI'),
    html`<p class="small">
        These apps may spend credits of your wallet on AI models, each up to its cap of a day.
      </p>
      ${dataTable(t('Apps that use AI'), heads, rows)}`,
  )
}

/** Revokes a consent by the form on the account page. */
export const revokeAppConsent = form(revokeConsent, {
  params: (sent) => ({ id: sent.text('revoke') }),
  then: '/account',
})
