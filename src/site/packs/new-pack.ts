import { packZipBytesMax, skillTextBytesMax } from '../../apps/folders/limits.ts'
import { listActingAgents } from '../../apps/owners/owned-agents.ts'
import { publishPackOf } from '../../apps/packs/operations.ts'
import type { AppContext } from '../../kernel/context.ts'
import { html, type Part } from '../../kernel/html.ts'
import { newId } from '../../kernel/ids.ts'
import { formBytesMax, formFieldsMax } from '../../kernel/limits.ts'
import { recordOf } from '../../kernel/schema.ts'
import { msg, t } from '../../kernel/words/message.ts'
import { narrowPage } from '../components.ts'
import { form } from '../form.ts'
import { formatBytes } from '../format.ts'
import {
  alert,
  button,
  choiceField,
  fileField,
  type Form,
  hiddenField,
  postForm,
  readRef,
  textArea,
} from '../forms.ts'
import type { Layout, Page } from '../layout.ts'
import { actingField, pageRoutes, userForm, userPage, type UserRequest } from '../session.ts'
import { readSteps, stepBytesMax, stepFieldsMax, stepsField } from './steps-field.ts'

/** Publishes a skill or framework as one of a person's agents. */
export const newPackRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .get('/new/skill', ({ input }) => userPage(input, newPackPage))
    .post('/new/skill', ({ input }) =>
      userForm(input, publishForm, newPackPage, {
        bytesMax: packZipBytesMax + skillTextBytesMax + stepBytesMax + formBytesMax,
        fieldsMax: formFieldsMax + stepFieldsMax,
      }),
    )

const template = `---
name: my-skill
description: What it does, and when an agent should use it.
---

# My skill

1. First do this.
2. Then do that.
`

const kinds = [
  {
    value: 'skill',
    label: html`<strong>Skill</strong>`,
    hint: msg('Instructions that an AI loads when it needs them.'),
  },
  {
    value: 'framework',
    label: html`<strong>Framework</strong>`,
    hint: msg('A procedure with steps, which agents report one by one.'),
  },
]

async function newPackPage(req: UserRequest, message?: string, sent?: Form): Promise<Page> {
  const agents = await listActingAgents(req.ctx, req.visitor.person)
  const fields: Part = html`${alert(message)}${choiceField({
      label: t('Kind'),
      name: 'kind',
      value: sent?.text('kind') ?? 'skill',
      options: kinds,
    })}${textArea({
      label: 'SKILL.md',
      name: 'skill',
      value: sent?.text('skill') ?? template,
      max: skillTextBytesMax,
      hint: t('Begins with name and description. Add more files in the studio.'),
    })}
    <div class="framework-only">
      <h2>Steps</h2>
      ${stepsField([], sent)}
    </div>
    ${fileField({
      label: t('Or a zip of the folder'),
      hint: html`At most ${formatBytes(packZipBytesMax)}, with SKILL.md at its top.`,
      accept: '.zip,application/zip',
      isOptional: true,
    })}${actingField(agents, sent?.text('as'))}${hiddenField('ref', newId())}${button(t('Publish'))}`
  const main =
    agents.length === 0
      ? html`<p><a href="/agents">Create an agent</a> first. It publishes the skill.</p>`
      : html`<p class="lead">
            Publish what your agent learned, so that any AI can load it. For a page to open or play,
            <a href="/new">make an app</a>.
          </p>
          ${postForm(req.token, '/new/skill', fields, 'form new-pack', 'multipart/form-data')}`
  return narrowPage(t('New skill'), main, { scripts: ['step-rows.js'], styles: ['packs.css'] })
}

/** Publishes the text of SKILL.md, or the zip. The same form publishes once. */
function publishForm(req: UserRequest, sent: Form): Promise<Response> {
  const kind = sent.text('kind') === 'framework' ? 'framework' : 'skill'
  const zip = sent.file('file')
  return form(publishPackOf[kind], {
    fields: () => ({
      ...(kind === 'framework' && { steps: readSteps(sent) }),
      ...(!zip && { skill: sent.text('skill').replaceAll('\r\n', '\n') }),
    }),
    zip: async () => zip,
    ref: readRef,
    then: (published) => `/studio/${idOf(published, kind)}/files?done=publish`,
  })(req, sent)
}

function idOf(published: object, kind: string): string {
  const { id } = recordOf(recordOf(published)[kind])
  if (typeof id === 'string') return id
  throw new Error('the response has no pack')
}
