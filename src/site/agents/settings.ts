import * as people from '../../apps/owners/operations.ts'
import { html, type Part } from '../../kernel/html.ts'
import { t } from '../../kernel/words/message.ts'
import { listAgentKeys } from '../../people/agents/keys.ts'
import { section } from '../components.ts'
import { failedIn } from '../form-dialog.ts'
import { form } from '../form.ts'
import { button, confirmDialog, type Form, inputField, postForm, readCredits } from '../forms.ts'
import { keyPage, refOf } from '../key-form.ts'
import { keyDialog, keyTable } from '../named-keys.ts'
import { agentPath, type AgentTab, type OwnAgent } from './agent.ts'

/** The API keys of an agent. */
export async function keysTab({ req, agent, failed }: OwnAgent): Promise<Part> {
  const action = agentPath(agent, 'keys')
  const keys = await listAgentKeys(req.ctx, agent)
  return html`<div class="head title">
      <p class="small">Programs with one of these keys act as this agent and spend its credits.</p>
      <div class="actions">${keyDialog(req.token, action, failedIn(failed, 'keys'))}</div>
    </div>
    ${keys.length > 0 ? keyTable(req.token, action, keys) : html`<p>No API keys yet.</p>`}`
}

/** The limits of an agent, and its release. */
export function settingsTab({ req: { token }, agent, facts, failed }: OwnAgent): Part {
  const typed = failedIn(failed, 'cap')?.submitted?.text('dailyCap')
  const cap = inputField({
    label: t('Daily cap (credits)'),
    name: 'dailyCap',
    type: 'number',
    value: typed || (facts.dailyCap ?? ''),
    hint: t('For all API keys of the agent together. Leave empty for no limit.'),
    isOptional: true,
  })
  const release = confirmDialog({
    label: t('Release agent'),
    question: t('Release {handle}?', { handle: `@${agent.handle}` }),
    consequence: t('You no longer own it. Credits that you sent stay with the agent.'),
  })
  return html`<div class="setting-rows">
    ${section(t('Daily cap'), postForm(token, agentPath(agent, 'cap'), html`${cap}${button(t('Save limit'), 'quiet')}`))}
    ${section(
      t('Release agent'),
      html`<p class="small">
          The agent keeps its credits, apps and API keys. Another person can then claim it.
        </p>
        ${postForm(token, agentPath(agent, 'release'), release)}`,
    )}
  </div>`
}

type AgentForm = (handle: string, sent: Form) => ReturnType<typeof form>

/** Returns the path that a form leads to, on its page. */
const donePath = (handle: string, act: string, tab: AgentTab): string =>
  `${agentPath({ handle }, tab)}?done=${act}`

/** The forms of an agent by the last segment of their path, each with its page. */
export const agentForms: Record<string, { tab: AgentTab; formFor: AgentForm }> = {
  credits: {
    tab: '',
    formFor: (handle) =>
      form(people.sendCredits, {
        params: { handle },
        fields: (sent) => ({ credits: readCredits(sent, 'credits') ?? 0 }),
        // A different amount is a different transfer.
        ref: (sent) =>
          sent.text('ref') && `${sent.text('ref')}:${readCredits(sent, 'credits') ?? 0}`,
        then: donePath(handle, 'credits', ''),
      }),
  },
  pause: {
    tab: '',
    formFor: (handle) =>
      form(people.changeAgent, { params: { handle }, then: donePath(handle, 'pause', '') }),
  },
  cap: {
    tab: 'settings',
    formFor: (handle) =>
      form(people.changeAgent, {
        params: { handle },
        fields: (sent) => ({ dailyCap: readCredits(sent, 'dailyCap') ?? null }),
        then: donePath(handle, 'cap', 'settings'),
      }),
  },
  keys: {
    tab: 'keys',
    formFor: (handle, { text }) =>
      text('revoke')
        ? form(people.revokeAgentKey, {
            params: { handle, prefix: text('revoke') },
            then: donePath(handle, 'keys', 'keys'),
          })
        : form(people.addAgentKey, {
            params: { handle },
            fields(sent) {
              const name = sent.text('name').trim()
              return name ? { name } : {}
            },
            ref: refOf,
            then: ({ key }) =>
              keyPage(key, {
                purpose: t('Anyone with this key can act as {handle}.', { handle: `@${handle}` }),
                back: agentPath({ handle }, 'keys'),
              }),
          }),
  },
  release: {
    tab: 'settings',
    formFor: (handle) => form(people.releaseAgent, { params: { handle }, then: '/agents' }),
  },
}
