import type { App } from '../../apps/apps.ts'
import { type AudienceBody, getAudience, type ShareLinkBody } from '../../apps/audience/audience.ts'
import { changeAudience, createLink, revokeLink } from '../../apps/audience/operations.ts'
import { isPackKind } from '../../apps/kinds.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { shareLinkNameCharsMax, shareLinksPerAppMax } from '../../kernel/limits.ts'
import type { Json } from '../../kernel/schema.ts'
import { msg, t } from '../../kernel/words/message.ts'
import { section } from '../components.ts'
import { renderAge, renderDate } from '../format.ts'
import { button, type Form, hiddenField, inputField, postForm, selectField } from '../forms.ts'
import type { Page } from '../layout.ts'
import type { UserRequest } from '../session.ts'
import { act, type Studio, type StudioAction, studioPage, tabPath } from './studio.ts'

const audiences = [
  ['public', msg('Anyone; can be listed on Explore')],
  ['link', msg('Anyone with the link; not listed')],
  ['password', msg('Anyone with a password')],
  ['people', msg('Named people and groups')],
  ['instance', msg('Everyone who is signed in here')],
] as const

/** Renders who may open an item, with its share links. */
export async function accessPage(studio: Studio): Promise<Page> {
  const { app, req, submitted } = studio
  const audience = await getAudience(req.ctx, app)
  const fields = audienceFields(app, audience, submitted)
  const main = html`<div class="setting-rows">
    ${section(
      t('Who can open it'),
      html`<p class="small">
          A change applies at once, also to open pages. You and the operator can always open it.
        </p>
        ${postForm(req.token, tabPath(app.id, 'audience'), fields)}`,
    )}
    ${shareLinks(req, app, audience, {
      create: tabPath(app.id, 'link'),
      revoke: tabPath(app.id, 'revoke'),
      submitted,
    })}
  </div>`
  return studioPage(studio, 'access', main)
}

/** Returns the fields that say who may open an item. `submitted` is a form with an error. */
export function audienceFields(
  { kind }: Pick<App, 'kind'>,
  audience: AudienceBody,
  submitted?: Form,
): Html {
  // The other forms of the page have no audience.
  const typed = submitted?.has('audience') ? submitted : undefined
  const text = (name: string, value: string): string => typed?.text(name) ?? value
  const options = audiences.filter(([name]) => name !== 'password' || !isPackKind(kind))
  return html`${selectField({
    label: t('Audience'),
    name: 'audience',
    value: text('audience', audience.audience),
    options,
  })}${
    !isPackKind(kind) &&
    inputField({
      label: audience.hasPassword ? t('New password') : t('Password'),
      name: 'password',
      type: 'password',
      autocomplete: 'new-password',
      isOptional: true,
      hint: t('For the audience with a password. At least 8 characters.'),
    })
  }${inputField({
    label: t('People'),
    name: 'people',
    value: text('people', audience.people.join(', ')),
    isOptional: true,
    hint: t('Usernames or emails of accounts here, with commas between them.'),
  })}${inputField({
    label: t('Groups'),
    name: 'groups',
    value: text('groups', audience.groups.join(', ')),
    isOptional: true,
    hint: t('Groups of this server, with commas between them.'),
  })}${inputField({
    label: t('Closes on'),
    name: 'expiresAt',
    type: 'date',
    value: text('expiresAt', audience.expiresAt?.slice(0, 10) ?? ''),
    isOptional: true,
    hint: t('From this day on (UTC), only its maker, its owner and the operator can open it.'),
  })}${button(t('Save'))}`
}

/** The forms of the share links of an app. */
interface ShareLinkForms {
  /** Path that creates a link. */
  create: string
  /** Path that revokes one. */
  revoke: string
  /** A form of the page with an error. */
  submitted: Form | undefined
}

/** Renders the share links of an app, with the forms that create and revoke them. */
export function shareLinks(
  { token, ctx }: Pick<UserRequest, 'token' | 'ctx'>,
  { kind }: Pick<App, 'kind'>,
  { links }: AudienceBody,
  { create, revoke, submitted }: ShareLinkForms,
): Part {
  if (isPackKind(kind)) return undefined
  const typed = submitted?.has('audience') ? undefined : submitted
  const fields = html`${inputField({
    label: t('Name'),
    name: 'name',
    value: typed?.text('name'),
    max: shareLinkNameCharsMax,
    hint: t('Whom the link is for. Visitors do not see it.'),
  })}${inputField({
    label: t('Ends on'),
    name: 'expiresAt',
    type: 'date',
    value: typed?.text('expiresAt'),
    isOptional: true,
    hint: t('From this day on (UTC), the link opens nothing.'),
  })}${button(t('Create share link'), 'quiet')}`
  const now = ctx.clock.now()
  return section(
    t('Share links'),
    html`<p class="small">
        A share link opens the app to whoever has it, whatever the audience, until you revoke it.
      </p>
      ${
        links.length > 0 &&
        html`<ul class="changed-files">
          ${links.map((link) => linkItem(link, token, revoke, now))}
        </ul>`
      }
      ${links.length < shareLinksPerAppMax ? postForm(token, create, fields) : html`<p>The app has ${shareLinksPerAppMax} share links. Revoke one to create another.</p>`}`,
  )
}

function linkItem(
  { id, name, created, expiresAt, used }: ShareLinkBody,
  token: string,
  action: string,
  now: number,
): Html {
  const revoke = html`${hiddenField('link', id)}${button(t('Revoke'), 'quiet slim', { target: name })}`
  return html`<li>
    <b><bdi>${name}</bdi></b>
    <p class="small">
      Created ${renderDate(created)} ·
      ${used === null ? t('not used yet') : html`last used ${renderAge(used, now)}`}${
        expiresAt !== null && html` · until ${renderDate(expiresAt)}`
      }
    </p>
    ${postForm(token, action, revoke, 'act')}
  </li>`
}

const listOf = (form: Form, name: string): string[] =>
  form
    .text(name)
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')

/**
 * Reads who may open an item from its form. Empty fields clear lists and the last day, and keep the
 * password.
 */
export function readAudience(form: Form): Json {
  const [password, expiresAt] = [form.text('password'), form.text('expiresAt').trim()]
  return {
    audience: form.text('audience'),
    people: listOf(form, 'people'),
    groups: listOf(form, 'groups'),
    expiresAt: expiresAt === '' ? null : `${expiresAt}T00:00:00Z`,
    ...(password !== '' && { password }),
  }
}

/** Reads a share link from its form. */
export function readLink(form: Form): Json {
  const expiresAt = form.text('expiresAt').trim()
  const name = form.text('name').trim()
  return expiresAt === '' ? { name } : { name, expiresAt: `${expiresAt}T00:00:00Z` }
}

/** Shows the address of a new share link. */
export const linkNote = (url: string): string =>
  t('Copy the link now, it is shown once: {value}', { value: url })

const saveAudience: StudioAction['work'] = async (studio, form) => {
  const saved = await act(studio, changeAudience, {}, readAudience(form))
  return t('Saved. {value}', { value: String(saved['note']) })
}

const addLink: StudioAction['work'] = async (studio, form) => {
  const made = await act(studio, createLink, {}, readLink(form))
  return linkNote(String(made['url']))
}

const endLink: StudioAction['work'] = async (studio, form) => {
  const done = await act(studio, revokeLink, { link: form.text('link') })
  return String(done['note'])
}

export const accessActions: Record<string, StudioAction> = {
  audience: { tab: 'access', work: saveAudience },
  link: { tab: 'access', work: addLink },
  revoke: { tab: 'access', work: endLink },
}
