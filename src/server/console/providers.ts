import { builderKind } from '../../apps/builds/budget.ts'
import { findLocalServers, type FoundServer } from '../../gateway/providers/model-list.ts'
import { isFixed } from '../../kernel/config/values.ts'
import type { AppContext } from '../../kernel/context.ts'
import { rejectRequest } from '../../kernel/errors.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { msg, t } from '../../kernel/words/message.ts'
import { section, withQuery } from '../../site/components.ts'
import { form } from '../../site/form.ts'
import { formatCompact, formatCount, renderDateTime } from '../../site/format.ts'
import {
  button,
  type Form,
  hiddenField,
  inputField,
  notice,
  postForm,
  selectField,
} from '../../site/forms.ts'
import type { Page } from '../../site/layout.ts'
import { type Column, dataTable, usual } from '../../site/lists.ts'
import type { UserRequest } from '../../site/session.ts'
import { changeSetting, connectProvider, resetSetting } from '../operator/operations.ts'
import { type ProviderKey, providerKeys } from '../operator/providers.ts'
import { serverStates, type SharedHealth, sumHealth } from '../operator/servers.ts'
import { places } from '../operator/settings.ts'
import { badge, consolePage, hasSeveral, serverCode, silentNote, statusLine } from './components.ts'
import { findRow } from './settings.ts'

const place = '/console/providers'
/** The number of models in a choice. */
const choicesMax = 400

const countModels = ({ catalog }: AppContext, upstream: string): number =>
  catalog.list().filter(({ offers }) => offers.some((one) => one.upstream === upstream)).length

/** Renders the providers that have a key, and the local servers. */
function connectedTable({ ctx, token }: UserRequest): Part {
  const keyed = providerKeys.flatMap(({ name, label, setting }) => {
    const row = findRow(ctx, setting)
    return row && row.value !== '' ? [{ name, label, row }] : []
  })
  const own = ctx.upstreams.names.filter(
    (name) => name !== 'demo' && !name.includes('#') && !keyed.some((one) => one.name === name),
  )
  const remove = (setting: string, label: string): Part =>
    postForm(
      token,
      `${place}/remove`,
      html`${hiddenField('setting', setting)}${button(t('Remove key'), 'quiet slim danger', { name: 'remove', value: 'yes', target: label })}`,
      'inline',
    )
  const rows: Part[][] = [
    ...keyed.map(({ name, label, row }) => [
      html`<bdi>${label}</bdi>`,
      countModels(ctx, name),
      places[row.source],
      isFixed(row.source) ? badge(t('set elsewhere')) : remove(row.name, label),
    ]),
    ...own.map((name): Part[] => [name, countModels(ctx, name), t('by its address'), false]),
  ]
  const heads = [
    t('Provider'),
    { number: t('Models') },
    t('Set'),
    { unseen: t('Actions') },
  ] as const
  return rows.length > 0 && section(t('Connected'), dataTable(t('Connected'), [...heads], rows))
}

/** Providers that most people have an account with come first. */
const known = ['openai', 'anthropic', 'gemini', 'openrouter', 'groq', 'mistral', 'deepseek', 'xai']
const rankOf = ({ name }: ProviderKey): number => (known.indexOf(name) + 100) % 100

function keyForm({ ctx, token }: UserRequest, submitted?: Form): Part {
  const open = providerKeys
    .filter(({ setting }) => !isFixed(findRow(ctx, setting)?.source ?? 'default'))
    .toSorted((a, b) => rankOf(a) - rankOf(b))
  const fields = html`${selectField({
    label: t('Provider'),
    name: 'provider',
    value: submitted?.text('provider') ?? 'openai',
    options: open.map(({ name, label }) => [name, label] as const),
  })}${inputField({
    label: t('API key'),
    name: 'key',
    type: 'password',
    value: '',
    max: 500,
    hint: t('It is tested with one call of the cheapest model, and stored encrypted.'),
  })}${button(t('Test and save'))}`
  return section(t('Add a provider'), postForm(token, place, fields))
}

/** Renders the servers of models on this machine, each with a button that uses it. */
function localSection({ token, ctx }: UserRequest, found: FoundServer[]): Part {
  const isUsed = ({ setting }: FoundServer): boolean => {
    const name =
      setting === 'OLLAMA_HOST' ? 'ollama' : setting.slice(0, -'_URL'.length).toLowerCase()
    return ctx.upstreams.names.includes(name)
  }
  const use = (server: FoundServer): Part =>
    isUsed(server)
      ? badge(t('in use'), 'good')
      : postForm(
          token,
          `${place}/local`,
          html`${hiddenField('setting', server.setting)}${hiddenField('url', server.url)}${button(t('Use it'), 'quiet slim', { name: 'use', value: 'yes', target: server.name })}`,
          'inline',
        )
  const content =
    found.length > 0
      ? dataTable(
          t('On this machine'),
          [t('Server'), { long: t('Address') }, { number: t('Models') }, { unseen: t('Actions') }],
          found.map((server) => [server.name, server.url, server.models.length, use(server)]),
        )
      : html`<p class="small">
          Neither Ollama, LM Studio, llama.cpp nor vLLM responds at its usual port. Start one and
          <a href="${place}">look again</a>, or set its address in
          <a href="/console/settings?q=lmstudio">the settings</a>.
        </p>`
  return section(t('On this machine'), content)
}

/** Renders the choice of the model that builds apps from descriptions. */
function builderSection({ ctx, token }: UserRequest): Part {
  const row = findRow(ctx, 'BUILDER_MODEL')
  if (!row || isFixed(row.source)) return false
  const chats = ctx.catalog.list(['chat']).filter(({ price }) => price !== undefined)
  const options = chats.slice(0, choicesMax).map(({ id }) => [id, id] as const)
  const none = ['', t('No model of its own')] as const
  const text = {
    model: t('People describe an app on the home page, and this model builds it.'),
    templates: t(
      'Only the demo builder fills ready-made pages. Choose a model that writes code well.',
    ),
    none: t('Nothing builds apps from descriptions. Choose a model that writes code well.'),
  }
  const fields = html`${selectField({ label: t('Model'), name: 'value', value: row.value, options: [none, ...options] })}${button(t('Save'), 'quiet')}`
  return html`<section id="builder">
    <h2>Model that builds apps</h2>
    <p class="small">${text[builderKind(ctx)]}</p>
    ${postForm(token, `${place}/builder`, fields)}
  </section>`
}

/** Renders how models come to this server: keys, local servers, and the builder. */
export async function providersPage(
  req: UserRequest,
  message?: string,
  submitted?: Form,
): Promise<Page> {
  const added = req.query.get('added')
  const count = Number(req.query.get('models'))
  const label = providerKeys.find(({ name }) => name === added)?.label
  const main = html`${label !== undefined && notice(t('{label} answered. {count} of it can be used now. Next, choose the model that builds apps.', { label, count: formatCount(count, 'model') }))}
  ${connectedTable(req)}${keyForm(req, submitted)}
  ${localSection(req, await findLocalServers())}${builderSection(req)}`
  const lead = t(
    'Paste the key of a provider, or use a server of this machine. Its models appear at once.',
  )
  return consolePage({ place, title: t('Providers'), lead, message, main })
}

/** Tests and stores the key of a provider. */
export const providerForm = (sent: Form) => {
  const name = sent.text('provider')
  return form(connectProvider, {
    params: { name },
    fields: () => ({ key: sent.text('key').trim() }),
    then: ({ models }) => withQuery(place, { added: name, models: String(models) }),
  })
}

const ofProviders = (sent: Form): string => {
  const name = sent.text('setting')
  const isOwn = providerKeys.some(({ setting }) => setting === name)
  return isOwn ? name : rejectRequest(t('Choose a provider of the list.'))
}

export const removeForm = (sent: Form) =>
  form(resetSetting, { params: { name: ofProviders(sent) }, then: place })

const localSettings = ['OLLAMA_HOST', 'LMSTUDIO_URL', 'LLAMACPP_URL', 'VLLM_URL']

/** Uses a server that was found on this machine. */
export const localForm = (sent: Form) => {
  const name = sent.text('setting')
  if (!localSettings.includes(name)) rejectRequest(t('Choose a server of the list.'))
  return form(changeSetting, {
    params: { name },
    fields: () => ({ value: sent.text('url') }),
    then: place,
  })
}

export const builderForm = form(changeSetting, {
  params: { name: 'BUILDER_MODEL' },
  then: `${place}#builder`,
})

const labels = {
  closed: [msg('up'), 'good'],
  'half-open': [msg('retrying'), 'plain'],
  open: [msg('paused'), 'bad'],
} as const

const unknown = [msg('no call yet'), 'good'] as const

/** The name of a provider, with that of the upstream after it; "openai#2" has a second key. */
function labelOf(upstream: string): Part {
  const label = providerKeys.find(({ name }) => name === upstream.split('#', 1)[0])?.label
  return label === undefined ? upstream : html`${label} <code class="code-name">${upstream}</code>`
}

/** Says whether an upstream is paused, and the next step where only the demo answers. */
function upstreamStatus(all: SharedHealth[]): Html {
  const paused = all.filter(({ state }) => state !== 'closed').length
  if (paused > 0) {
    return statusLine(
      t('{paused} of {all} paused', { paused, all: all.length }),
      t('Their models are served by other upstreams, or fail until a try succeeds.'),
      'bad',
    )
  }
  return all.every(({ name }) => name === 'demo')
    ? statusLine(
        t('Only demo models answer'),
        html`Add the key of a provider, or use a server of this machine:
          <a href="${place}">Providers</a>.`,
        'warn',
      )
    : statusLine(
        t('No upstream is paused'),
        t('An upstream is paused after five failures in a row.'),
      )
}

/** Renders the health of the upstreams, as all servers see them. */
export async function upstreamsPage(ctx: AppContext): Promise<Page> {
  const states = await serverStates.collect(ctx, null)
  const offers = ctx.catalog.list().flatMap((model) => model.offers)
  const row = (health: SharedHealth) => {
    const { name, kind, state, answers: responses, failures, answeredAt, lastFailure } = health
    const isUnknown = state === 'closed' && answeredAt === undefined
    const [label, style] = isUnknown ? unknown : labels[state]
    const models = offers.filter(({ upstream }) => upstream === name).length
    return [
      html`${labelOf(name)}${kind !== name && html` <span class="small">${kind}</span>`}`,
      html`${badge(label, style)}${hasSeveral(states) && health.pausedAt.map((server) => html`<div class="small">${serverCode(server)}</div>`)}`,
      formatCompact(models),
      formatCompact(responses),
      answeredAt === undefined ? usual(t('never')) : renderDateTime(answeredAt),
      failures === 0 ? usual('0') : formatCompact(failures),
      lastFailure ? html`${lastFailure.why}, ${renderDateTime(lastFailure.at)}` : usual(t('never')),
    ]
  }
  const heads: Column[] = [
    t('Upstream'),
    { text: t('State'), onPhone: 'figure' },
    { number: t('Models') },
    { number: t('Successes') },
    t('Last success'),
    { number: t('Failures') },
    t('Last failure'),
  ]
  const main = html`<auto-refresh data-seconds="5"
      >${silentNote(states)} ${upstreamStatus(sumHealth(states))}
      ${dataTable(t('Upstreams'), heads, sumHealth(states).map(row))}</auto-refresh
    >
    <p class="small below">
      Counts start when Berth starts. Five consecutive failures pause an upstream. One request is
      retried after 5 seconds, then after twice as long each time, up to 5 minutes.
      ${hasSeveral(states) && t('Counts are sums over all servers. Each server pauses an upstream by itself: the state names those that do.')}
    </p>`
  return consolePage({
    place: '/console/upstreams',
    title: t('Upstreams'),
    action: html`<a class="button quiet" href="${place}">${t('Add a provider')}</a>`,
    main,
    scripts: ['auto-refresh.js'],
  })
}
