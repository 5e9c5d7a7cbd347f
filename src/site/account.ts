import * as consents from '../apps/ai/consents.ts'
import { revokeConsent } from '../apps/ai/operations.ts'
import { findApp } from '../apps/apps.ts'
import { mayOpenAs } from '../apps/audience/access.ts'
import { exportPerson } from '../apps/owners/export.ts'
import { closeAccount } from '../apps/owners/operations.ts'
import { browserName } from '../kernel/browser-name.ts'
import type { AppContext } from '../kernel/context.ts'
import { ApiError } from '../kernel/errors.ts'
import { type Html, html, type Part } from '../kernel/html.ts'
import { formBytesMax, iconBytesMax } from '../kernel/limits.ts'
import { toCredits } from '../kernel/money.ts'
import { lookUp } from '../kernel/schema.ts'
import { msg, t } from '../kernel/words/message.ts'
import type { Key } from '../money/keys/keys.ts'
import * as ledger from '../money/ledger/ledger.ts'
import { sumSpendingByPeriod } from '../money/ledger/reports.ts'
import * as ownKeys from '../people/keys.ts'
import * as account from '../people/operations.ts'
import { type Person, walletOf } from '../people/people.ts'
import * as sessions from '../people/sessions.ts'
import type { Session } from '../people/sessions.ts'
import { section } from './components.ts'
import { connectorSection, revokeConnectorForm } from './connectors.ts'
import { type FailedForm, failedIn, formDialog } from './form-dialog.ts'
import { form } from './form.ts'
import { renderCredits, renderDate, shortCredits, spendingBar } from './format.ts'
import {
  alert,
  button,
  confirmDialog,
  type Form,
  hiddenField,
  inputField,
  notice,
  postForm,
} from './forms.ts'
import { keyPage, refOf } from './key-form.ts'
import { languageForm, languageSection } from './language.ts'
import type { Layout, Page } from './layout.ts'
import { dataTable, tableSection } from './lists.ts'
import { keyDialog, keyTable } from './named-keys.ts'
import { avatarForm, profileForm, profileSection } from './profile.ts'
import {
  pageRoutes,
  redirectTo,
  requireUser,
  userForm,
  userPage,
  type UserRequest,
} from './session.ts'
import { accountSignInMethods } from './sign-in/methods.ts'
import { accountDeletedPage, codesShownPath, recoveryCodesPage } from './sign-in/sign-in.ts'

/** The path of the form that revokes a consent. */
const path = '/account/apps'

/** Returns the title of an app that a person may open still. */
async function titleFor(ctx: AppContext, id: string, person: Person): Promise<string | undefined> {
  const app = await findApp(ctx, id)
  return app && (await mayOpenAs(ctx, app, { person })) ? app.title : undefined
}

/** Lists what a person has agreed to for apps, and what each app spent. */
async function appConsents(ctx: AppContext, token: string, person: Person): Promise<Part> {
  const all = await consents.listConsents(ctx, person)
  if (all.length === 0) return ''
  const counters = all.map(({ app }) => consents.playerCounter(app, person.id))
  const spentBy = await sumSpendingByPeriod(ctx, counters)
  const titles = await Promise.all(all.map(({ app }) => titleFor(ctx, app, person)))
  const rows = all.flatMap((consent, index): Part[][] => {
    const { app, dailyCap, isRemembered, at } = consent
    const title = titles[index] ?? t('Closed app')
    const link = html`<a href="/a/${app}"><bdi>${title}</bdi></a>`
    const { day, month } = spentBy(consents.playerCounter(app, person.id))
    if (consents.isRevoked(consent)) {
      const spent = [link, renderCredits(day), renderCredits(month)]
      return month > 0n ? [[...spent, html`Revoked on ${renderDate(at)}`, '']] : []
    }
    const revoke = confirmDialog({
      label: t('Revoke'),
      target: title,
      question: html`Revoke what <bdi>${title}</bdi> may use?`,
      consequence: t('The app asks you again before its next call.'),
    })
    return [
      [
        link,
        spendingBar(day, dailyCap),
        renderCredits(month),
        isRemembered ? t('Until revoked') : html`On ${renderDate(at)}`,
        postForm(token, path, html`${hiddenField('revoke', app)}${revoke}`, 'act'),
      ],
    ]
  })
  if (rows.length === 0) return ''
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
const revokeAppConsent = form(revokeConsent, {
  params: (sent) => ({ id: sent.text('revoke') }),
  then: '/account',
})

export interface AccountView {
  token: string
  person: Person
  /** Newest first; empty where a proxy signs people in. */
  sessions: Session[]
  /** The ID of this session. */
  current: string | undefined
  keys: Key[]
  signInMethods: Part
  /** The section about the page that others see. */
  profile: Part
  /** Consents to the uses of apps. */
  apps: Part
  /** Programs that act as the person's agents. */
  connectors: Part
  /** Balance in credits. */
  wallet: number
  /** The form that failed. */
  failed: FailedForm | undefined
  /** The form that was submitted successfully. */
  done?: string | null
}

/** The forms whose dialogs show their own errors. */
const dialogForms = ['keys', 'password', 'codes']

const deviceName = (userAgent: string): string => {
  const system = /(Windows|Android|iPhone|iPad|Mac OS X|Linux)/.exec(userAgent)?.[0]
  return [browserName(userAgent), system].filter(Boolean).join(', ')
}

const sessionRow = (token: string, current: string | undefined, session: Session): Part[] => {
  const { id, browser, seen, created } = session
  const act =
    id === current
      ? html`<span class="small">This browser</span>`
      : postForm(
          token,
          '/account/sessions',
          html`${hiddenField('id', id)}${button(t('Sign out'), 'quiet slim')}`,
          'act',
        )
  return [deviceName(browser) || t('Unknown device'), renderDate(created), renderDate(seen), act]
}

const passwordField = (label: string, name: string, autocomplete: string): Html =>
  inputField({ label, name, type: 'password', autocomplete })

/** Sections for people who sign in here, not through a proxy. */
function securitySections(account: AccountView): Part {
  const { token, person, sessions, current, signInMethods } = account
  const hasPassword = person.password !== null
  const dialog = (act: string, label: string, submit: string, fields: Part): Html => {
    const failed = failedIn(account.failed, act)
    const form = postForm(token, `/account/${act}`, html`${fields}${button(submit)}`)
    const isOpen = failed !== undefined
    const dialog = formDialog({ label, style: 'quiet', form, isOpen, message: failed?.message })
    return html`<div class="actions">${dialog}</div>`
  }
  const currentPassword = (label: string): Part =>
    hasPassword && passwordField(label, 'password', 'current-password')
  const change = html`${currentPassword(t('Current password'))}${passwordField(t('New password'), 'wanted', 'new-password')}`
  const heads = [t('Browser'), t('Signed in'), t('Last active'), { unseen: t('Sign out') }]
  const rows = sessions.map((session) => sessionRow(token, current, session))
  return html`${tableSection(t('Sessions'), heads, rows)} ${signInMethods}
  ${section(
    t('Password'),
    html`<p class="small">
        ${!hasPassword && html`You have no password yet. `}A new password signs you out on all other
        devices.
      </p>
      ${dialog('password', hasPassword ? t('Change password') : t('Set password'), t('Save password'), change)}`,
  )}
  ${section(
    t('Recovery codes'),
    html`<p class="small">
        This server sends no email: recovery codes reset a forgotten password. New codes replace the
        old ones.
      </p>
      ${dialog('codes', t('New recovery codes'), t('Generate new codes'), currentPassword(t('Password')))}`,
  )}
  ${section(
    t('Your data'),
    html`<p>
        A zip with your account, sessions, wallet, and what you keep in apps as a player. Each of
        your agents exports its own apps with <code>berth export</code>.
      </p>
      <p class="actions">
        <a class="button quiet" href="/account/export" download>Download your data</a>
      </p>`,
  )}
  ${!person.operator && deleteSection(account)}`
}

function deleteSection({ token, person, wallet }: AccountView): Html {
  const fields = confirmDialog({
    label: t('Delete account'),
    question: html`Delete account <bdi>${person.name}</bdi>?`,
    consequence: t('This cannot be undone.'),
    fields:
      person.password !== null && passwordField(t('Password'), 'password', 'current-password'),
  })
  return section(
    t('Delete account'),
    html`<p>
        Your sessions, API keys and recovery codes stop working immediately. Your agents are
        released and keep their credits and apps. What you keep in apps as a player is deleted.
        ${wallet > 0 && html`Your wallet has <strong>${shortCredits(wallet)} credits</strong>. Send them to an agent first, or they are lost.`}
      </p>
      ${postForm(token, '/account/leave', fields)}`,
  )
}

const doneMessages = new Map([
  ['password', msg('Password updated.')],
  [
    'codes',
    msg('Recovery codes are shown only once. If you did not save them, generate new codes.'),
  ],
])

function accountPage(account: AccountView): Page {
  const { token, person, profile, keys, apps, connectors, failed, done, current } = account
  const out = postForm(token, '/sign-out', html`${button(t('Sign out'), 'quiet')}`, 'act')
  const failedKey = failedIn(failed, 'keys')
  const isInDialog = dialogForms.some((act) => failedIn(failed, act))
  const main = html`<div class="head title">
      <h1>${person.name}</h1>
      ${current !== undefined && out}
    </div>
    ${
      person.operator &&
      html`<p class="lead">You are the operator: <a href="/console">open the console</a>.</p>`
    }
    ${alert(isInDialog ? undefined : failed?.message)} ${notice(doneMessages.get(done ?? ''))}
    <div class="setting-rows">
      ${profile}
      ${section(
        t('Personal API keys'),
        html`<p class="small">
            Scripts act on your behalf with these keys, under <code>/people/me</code> of the API.
            They cannot act as an agent or spend credits.
          </p>
          ${keys.length > 0 && keyTable(token, '/account/keys', keys)}
          <div class="actions">${keyDialog(token, '/account/keys', failedKey)}</div>`,
      )}
      ${connectors} ${apps} ${languageSection(token, person)}
      ${current !== undefined && securitySections(account)}
    </div>`
  return { title: t('Account'), main, scripts: ['passkeys.js'] }
}

export const accountRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .get('/account', ({ input }) => userPage(input, (req) => getAccountPage(req)))
    .get('/account/export', ({ input }) =>
      requireUser(input, async ({ visitor }) => {
        const headers = {
          'content-type': 'application/zip',
          'content-disposition': 'attachment; filename="berth-account.zip"',
          'cache-control': 'no-store',
        }
        return new Response(exportPerson(ctx, visitor.person), { headers })
      }),
    )
    .get('/account/:act', ({ params: { act } }) => {
      requireForm(act)
      return redirectTo('/account')
    })
    .get('/sign-out', () => redirectTo('/account'))
    .post('/account/:act', ({ input, params: { act } }) => {
      const staleRedirect = () => (act === 'codes' ? codesShownPath : undefined)
      const bytesMax = act === 'avatar' ? iconBytesMax + formBytesMax : formBytesMax
      const page = (req: UserRequest, message: string, submitted: Form) =>
        getAccountPage(req, { act, message, submitted })
      return userForm(input, requireForm(act), page, { bytesMax, staleRedirect })
    })
    .post('/sign-out', ({ input }) =>
      userForm(input, form(account.signOut, { then: '/' }), (req, message, submitted) =>
        getAccountPage(req, { act: 'sign-out', message, submitted }),
      ),
    )

export async function getAccountPage(req: UserRequest, failed?: FailedForm): Promise<Page> {
  const { ctx, token, visitor } = req
  const { person, session } = visitor
  const [active, keys, profile, signInMethods, apps, connectors, { balance }] = await Promise.all([
    session ? sessions.list(ctx, person) : [],
    ownKeys.list(ctx, person, 'person'),
    profileSection(req),
    accountSignInMethods(req),
    appConsents(ctx, token, person),
    connectorSection(ctx, token, person),
    ledger.balanceOf(ctx, walletOf(person)),
  ])
  const wallet = toCredits(balance)
  const user = {
    token,
    person,
    sessions: active,
    current: session?.id,
    keys,
    profile,
    signInMethods,
    apps,
    connectors,
    wallet,
  }
  const done = req.query.get('done')
  return accountPage({ ...user, failed, done })
}

const toAccount = { then: '/account' }

/** The forms of the account page by the last segment of their path. */
const forms: Record<string, (req: UserRequest, sent: Form) => Promise<Response>> = {
  keys: (req, sent) => (sent.text('revoke') ? revokeKey : createKey)(req, sent),
  passkeys: (req, sent) => (sent.text('remove') ? removePasskeyForm : addPasskeyForm)(req, sent),
  apps: revokeAppConsent,
  connectors: revokeConnectorForm,
  language: languageForm,
  profile: profileForm,
  avatar: avatarForm,
  sessions: form(account.endSession, { params: idIn('id'), ...toAccount }),
  identities: form(account.unlinkIdentity, { params: idIn('remove'), ...toAccount }),
  password: form(account.changePassword, {
    fields: (sent) => ({ password: sent.text('password'), newPassword: sent.text('wanted') }),
    then: '/account?done=password',
  }),
  codes: form(account.renewCodes, {
    then: ({ recoveryCodes }) => recoveryCodesPage(recoveryCodes, '/account'),
  }),
  leave: form(closeAccount, { then: accountDeletedPage }),
}

function idIn(name: string) {
  return (sent: Form) => ({ id: sent.text(name) })
}

const revokeKey = form(account.revokePersonalKey, {
  params: (sent) => ({ prefix: sent.text('revoke') }),
  ...toAccount,
})
const createKey = form(account.addPersonalKey, {
  fields(sent) {
    const name = sent.text('name').trim()
    return name ? { name } : {}
  },
  ref: refOf,
  then: ({ key }) =>
    keyPage(key, { purpose: t('Scripts use it to act on your behalf.'), back: '/account' }),
})
const removePasskeyForm = form(account.removePasskey, { params: idIn('remove'), ...toAccount })
const addPasskeyForm = form(account.addPasskey, toAccount)

/** Throws `not_found`. */
function requireForm(act: string) {
  const found = lookUp(forms, act)
  if (found) return found
  throw new ApiError('not_found', { what: 'page' })
}
