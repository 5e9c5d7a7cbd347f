import { html, type Part } from '../../kernel/html.ts'
import { t } from '../../kernel/words/message.ts'
import { type Group, listGroups } from '../../people/groups.ts'
import { changeGroup } from '../../people/operations.ts'
import { section } from '../../site/components.ts'
import { form } from '../../site/form.ts'
import { button, type Form, inputField, postForm } from '../../site/forms.ts'
import type { Page } from '../../site/layout.ts'
import { dataTable, emptyState } from '../../site/lists.ts'
import type { UserRequest } from '../../site/session.ts'
import { consolePage } from './components.ts'

/** Renders the groups of people, to which makers open apps, and the form that sets one. */
export async function groupsPage(
  { ctx, token, query }: UserRequest,
  message?: string,
  submitted?: Form,
): Promise<Page> {
  const groups = await listGroups(ctx)
  const edited = groups.find(({ name }) => name === query.get('group'))
  const fields = html`${inputField({
    label: t('Group'),
    name: 'group',
    value: submitted?.text('group') ?? edited?.name,
    max: 100,
  })}${inputField({
    label: t('Members'),
    name: 'people',
    value: submitted?.text('people') ?? edited?.people.join(', '),
    hint: t('Usernames or emails, with commas between them. Leave it empty to delete the group.'),
    isOptional: true,
  })}${button(t('Save group'))}`
  const none = emptyState(
    t('No groups'),
    t('Add one below, or send the claim "groups" at sign-in.'),
  )
  const heads = [t('Group'), t('Members'), { number: t('From the sign-in provider') }]
  const main = html`${dataTable(t('Groups'), heads, groups.map(groupRow), none)}
  ${section(t('Set a group'), postForm(token, '/console/groups', fields))}`
  const lead = t('Makers open private apps to groups. Only their members see those apps.')
  return consolePage({ place: '/console/groups', title: t('Groups'), lead, message, main })
}

const groupRow = ({ name, people, provided }: Group): Part[] => [
  html`<a href="/console/groups?group=${encodeURIComponent(name)}"><bdi>${name}</bdi></a>`,
  people.join(', ') || '–',
  provided,
]

export const groupForm = form(changeGroup, {
  params: (sent) => ({ name: sent.text('group').trim() }),
  fields: (sent) => ({
    people: sent
      .text('people')
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  }),
  then: '/console/groups',
})
