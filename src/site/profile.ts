import {
  changeProfile,
  type OwnProfile,
  putAvatar,
  readOwnProfile,
  removeAvatar,
} from '../apps/profiles/operations.ts'
import type { AppContext } from '../kernel/context.ts'
import { ApiError } from '../kernel/errors.ts'
import { type Html, html, type Part } from '../kernel/html.ts'
import { createEntity, entityResponse } from '../kernel/http/entity.ts'
import { aboutCharsMax } from '../kernel/limits.ts'
import { msg, t, type Text } from '../kernel/words/message.ts'
import { findPublicProfile } from '../people/own-profile.ts'
import { type ProfilePart, profileParts } from '../people/profiles/parts.ts'
import { findProfileByHandle, readAvatar } from '../people/profiles/profiles.ts'
import { renderAvatar } from './art.ts'
import { form } from './form.ts'
import { button, type Form, hiddenField, inputField, postForm } from './forms.ts'
import { imageField, readImage } from './image-form.ts'
import { imagePath } from './paths.ts'
import { findUser, type PageInput, type UserRequest } from './session.ts'

const partLabels: Record<ProfilePart, Text> = {
  agents: msg('Your agents, and their items on Explore'),
  collections: msg('Collections'),
  reviews: msg('Reviews'),
  follows: msg('The makers that you follow'),
}

const checkBox = (name: string, label: Part, isChecked: boolean): Html =>
  html`<label class="tick"
    ><input type="checkbox" name="${name}" value="yes" ${isChecked && html` checked`} /><span
      >${label}</span
    ></label
  >`

/** The section of the account page with what others see of a person. */
export async function profileSection({ ctx, token, visitor }: UserRequest): Promise<Html> {
  const profile = await readOwnProfile(ctx, visitor.person)
  const { handle, suggestion = '', page, about, avatar } = profile
  const shown = avatar && imagePath(ctx, avatar)
  return html`<section id="profile">
    <h2>Public page</h2>
    ${profile.hidden !== null && html`<p class="alert">The operator hid your page: <bdi>${profile.hidden}</bdi></p>`}
    <div class="maker own">
      ${renderAvatar(handle ?? suggestion, shown)}
      <div>${stateLine(profile)}</div>
    </div>
    ${postForm(token, '/account/profile', profileFields(profile, handle ?? suggestion, about ?? ''))}
    ${page !== null && avatarForms(token, avatar !== null)}
  </section>`
}

function stateLine({ handle, public: isPublic, hidden }: OwnProfile): Html {
  if (isPublic && hidden === null) {
    return html`<p>
      <span class="badge">Public</span> Anyone can open
      <a href="/@${handle}"><bdi>@${handle}</bdi></a
      >.
    </p>`
  }
  return html`<p>
    <span class="badge plain">Private</span>
    ${handle === null ? t('You have no public page yet.') : html`<bdi>@${handle}</bdi> is yours. Only you see this page.`}
  </p>`
}

const profileFields = (profile: OwnProfile, handle: string, about: string): Html =>
  html`${inputField({
      label: t('Handle'),
      name: 'handle',
      value: handle,
      max: 30,
      hint: t(
        '3 to 30 characters: a-z, 0-9 and -. Your handle before stays yours and leads to the new one.',
      ),
    })}${inputField({
      label: t('About (optional)'),
      name: 'about',
      value: about,
      max: aboutCharsMax,
      isOptional: true,
    })}
    ${checkBox('public', t('Anyone can open my page'), profile.public)}
    <fieldset class="field-group shown-parts">
      <legend>What it shows</legend>
      ${profileParts.map((part) => checkBox(`show-${part}`, partLabels[part], profile.handle === null || profile.shows.includes(part)))}
    </fieldset>
    ${button(t('Save page'), 'quiet')}`

const avatarForms = (token: string, hasAvatar: boolean): Html =>
  html`${postForm(
    token,
    '/account/avatar',
    html`${imageField(t('Picture'))}${button(t('Upload picture'), 'quiet')}`,
    'form line',
    'multipart/form-data',
  )}${
    hasAvatar &&
    postForm(
      token,
      '/account/avatar',
      html`${hiddenField('remove', 'yes')}${button(t('Remove picture'), 'quiet slim')}`,
      'act',
    )
  }`

const toProfile = { then: '/account#profile' }

export const profileForm = form(changeProfile, {
  fields: (sent) => ({
    handle: sent.text('handle').trim().toLowerCase(),
    about: sent.text('about').trim() || null,
    public: sent.has('public'),
    shows: profileParts.filter((part) => sent.has(`show-${part}`)),
  }),
  ...toProfile,
})

export const avatarForm = (req: UserRequest, sent: Form): Promise<Response> =>
  (sent.has('remove') ? form(removeAvatar, toProfile) : uploadForm)(req, sent)

const uploadForm = form(putAvatar, {
  fields: async (sent) => ({ image: await readImage(sent) }),
  ...toProfile,
})

const avatarFile = /^([a-z0-9-]{3,30})-([0-9a-f]{32})\.webp$/

/** Sends the picture of a person to everyone who may open the page. Throws `not_found`. */
export async function sendAvatar(input: PageInput, file: string): Promise<Response> {
  const { ctx, request } = input
  const [, handle = '', name = ''] = avatarFile.exec(file) ?? []
  const person = await findAvatarOwner(ctx, input, handle, name)
  const bytes = person === undefined ? undefined : await readAvatar(ctx, person)
  if (!bytes) throw new ApiError('not_found', { what: 'picture' })
  const headers = { 'content-type': 'image/webp', 'cache-control': 'private, max-age=86400' }
  return entityResponse(request, createEntity({ etag: name, identity: bytes }, headers))
}

async function findAvatarOwner(
  ctx: AppContext,
  input: PageInput,
  handle: string,
  avatar: string,
): Promise<string | undefined> {
  const profile = handle === '' ? undefined : await findProfileByHandle(ctx, handle)
  if (profile?.avatar !== avatar) return undefined
  if (await findPublicProfile(ctx, handle)) return profile.person
  const req = await findUser(input)
  return req?.visitor.person.id === profile.person ? profile.person : undefined
}
