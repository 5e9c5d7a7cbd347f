import { listItems } from '../../apps/explore/explore.ts'
import { countByQueue } from '../../jobs/jobs.ts'
import type { AppContext } from '../../kernel/context.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { toCredits, toUsd } from '../../kernel/money.ts'
import { readObservations } from '../../kernel/state/observations.ts'
import { minute } from '../../kernel/time.ts'
import { msg, t, type Text } from '../../kernel/words/message.ts'
import { readTotals } from '../../money/ledger/reports.ts'
import { openMethods } from '../../money/payments/coins/method.ts'
import { countAgents } from '../../people/agents/agents.ts'
import { countPeople } from '../../people/people.ts'
import { statList } from '../../site/components.ts'
import {
  formatBytes,
  formatCompact,
  formatDollars,
  formatUsd,
  renderCredits,
  renderDateTime,
} from '../../site/format.ts'
import { button, hiddenField, postForm } from '../../site/forms.ts'
import type { Page } from '../../site/layout.ts'
import type { UserRequest } from '../../site/session.ts'
import { readFirstApp } from '../../store/data-files.ts'
import { listOpenCases } from '../operator/cases.ts'
import { listBackups } from '../operator/console-backups.ts'
import { historyStart, listMetrics, type MetricsPoint } from '../operator/metrics-history.ts'
import {
  type Collected,
  type ServerState,
  serverStates,
  type SharedHealth,
  sumHealth,
} from '../operator/servers.ts'
import { readMoneyToday } from '../operator/topups.ts'
import { consolePage, hasSeveral, serverSection, silentNote } from './components.ts'
import { formatUnit, historyRanges, rangePicker, readRange, timeChart } from './time-chart.ts'

interface StepText {
  title: Text
  text: Part
  link: Html
}

const texts: Record<SetupStepName, StepText> = {
  provider: {
    title: msg('Add a provider key'),
    text: msg('Only demo models answer. Paste a key, or use Ollama or LM Studio on this machine.'),
    link: html`<a href="/console/providers">Providers</a>`,
  },
  url: {
    title: msg('Set the public URL'),
    text: msg('Links and sign-in need the address of this server.'),
    link: html`<a href="/console/settings/APP_URL">Setting</a>`,
  },
  backup: {
    title: msg('Create a backup'),
    text: msg('Download it as well: it is on the same disk.'),
    link: html`<a href="/console/backups">Backups</a>`,
  },
  app: {
    title: msg('Publish the first app'),
    text: msg('Describe it, or drop an HTML file.'),
    link: html`<a href="/new">New app</a>`,
  },
  payments: {
    title: msg('Accept payments'),
    text: msg('People top up by coin, agents pay in USDC. Grants work without.'),
    link: html`<a href="/console/payments">Payments</a>`,
  },
  developer: {
    title: msg('Accept the role developer'),
    text: msg(
      'Clients that send system prompts as developer get an error until it is read as system.',
    ),
    link: html`<a href="/console/settings/GATEWAY_DEVELOPER_ROLE">Setting</a>`,
  },
}

function stepItem({ name, isDone, isOptional }: SetupStep): Html {
  const { title, text, link } = texts[name]
  const state = isDone ? t('Done') : isOptional ? t('Optional') : t('To do')
  return html`<li class="${isDone && 'done'}">
    <span class="tick" aria-hidden="true">${isDone && '✓'}</span>
    <span>
      <strong>${title}</strong> <span class="visually-hidden">(${state})</span>
      ${!isDone && html`<span class="small">${isOptional && html`Optional. `}${text}</span>`}
    </span>
    ${!isDone && link}
  </li>`
}

/** The steps of setting up a server, until all are done or the operator hides them. */
async function checklist(ctx: AppContext, token: string): Promise<Part> {
  if (!ctx.config.setupChecklist) return false
  const steps = await readChecklist(ctx)
  if (steps.every(({ isDone }) => isDone)) return false
  const [done, open] = [steps.filter(({ isDone }) => isDone), steps.filter(({ isDone }) => !isDone)]
  const hide = html`${hiddenField('value', 'off')}${hiddenField('act', 'set')}${button(t('Hide checklist'), 'quiet slim')}`
  return html`<section class="checklist" aria-labelledby="checklist">
    <h2 id="checklist">
      Set up this server <span class="small">${done.length} of ${steps.length}</span>
    </h2>
    <details class="folded">
      <summary>Show the steps</summary>
      <ul>
        ${open.map(stepItem)}
      </ul>
      ${
        done.length > 0 &&
        html`<details>
          <summary>${t('Done ({length})', { length: done.length })}</summary>
          <ul>
            ${done.map(stepItem)}
          </ul>
        </details>`
      }
      ${postForm(token, '/console/settings/SETUP_CHECKLIST', hide, 'inline')}
    </details>
  </section>`
}

/** The span that the health line describes. */
const recentMs = 5 * minute

const fact = (name: string, value: Part, isBad = false): Html =>
  html`<div class="${isBad && 'bad'}">
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`

/** The state of all servers in one line: traffic of five minutes, money of today, what waits. */
async function healthLine(ctx: AppContext, upstreams: SharedHealth[]): Promise<Html> {
  const [parts, { quarantined, appeals, reports }, jobs, { paidIn, charged }] = await Promise.all([
    readObservations(ctx, 'parts', recentMs),
    listOpenCases(ctx),
    countByQueue(ctx),
    readMoneyToday(ctx),
  ])
  const [stats] = parts.history(recentMs, 1)
  const waits = quarantined.length + appeals.length + reports.length
  const queued = jobs.reduce((sum, one) => sum + (one.state === 'queued' ? one.count : 0), 0)
  const { count = 0, serverErrors = 0, p95 } = stats ?? {}
  const share = (serverErrors / Math.max(1, count)) * 100
  const paused = upstreams.filter(({ state }) => state !== 'closed').length
  return html`<dl class="health" aria-label="Health">
    ${fact(t('Requests'), formatUnit(count / (recentMs / 1_000), '/s'))}
    ${fact(t('Latency (p95)'), p95 === undefined ? '–' : formatUnit(p95, 'ms'))}
    ${fact(t('Server errors'), html`<a href="/console/errors">${formatUnit(share, '%')}</a>`, share >= 1)}
    ${fact(t('Paid in today'), formatUsd(toUsd(paidIn)))}
    ${fact(t('Charged today'), html`${renderCredits(charged)} cr`)}
    ${fact(t('Needs review'), html`<a href="/console/queue">${formatCompact(waits)}</a>`, waits > 0)}
    ${fact(t('Jobs queued'), formatCompact(queued))}
    ${fact(t('Upstreams paused'), html`<a href="/console/upstreams">${paused}</a>`, paused > 0)}
  </dl>`
}

const place = '/console'

/** Renders the current state, and the traffic of a span of time. */
export async function overviewPage({ ctx, query, token }: UserRequest): Promise<Page> {
  const states = await serverStates.collect(ctx, null)
  const range = readRange(query, historyRanges, ctx.clock.now() - (await historyStart(ctx)))
  const upstreams = sumHealth(states)
  const [setup, health, points, stats] = await Promise.all([
    checklist(ctx, token),
    healthLine(ctx, upstreams),
    listMetrics(ctx, range),
    getStats(ctx),
  ])
  const main = html`${setup}<auto-refresh data-seconds="10"
      >${silentNote(states)} ${health} ${rangePicker(place, historyRanges, range)} ${charts(points)}
      ${
        hasSeveral(states) &&
        html`<p class="small below">
          All charts are of all servers: free disk space is the least, and event-loop lag the
          longest of any.
        </p>`
      }
      ${statList([...stats, ...ownStats(states)])} ${serverSection(states)}</auto-refresh
    >`
  return consolePage({
    place,
    title: t('Overview'),
    main,
    scripts: ['auto-refresh.js', 'time-chart.js'],
  })
}

/** The charts of the traffic; those of the process are folded. */
function charts(points: MetricsPoint[]): Html {
  const times = points.map(({ at }) => at)
  const shown = points.map((point) => ({ ...point, income: toCredits(point.income) }))
  const line = (
    name: string,
    color: 'accent' | 'warm' | 'danger' | 'quiet',
    of: keyof MetricsPoint,
  ) => ({ name, color, values: shown.map((one) => one[of]) })
  const chart = (
    title: string,
    unit: Parameters<typeof timeChart>[0]['unit'],
    ...lines: ReturnType<typeof line>[]
  ) => timeChart({ title, unit, times, lines })
  return html`<div class="charts">
      ${chart(t('Requests'), '/s', line(t('Requests'), 'accent', 'requestsPerSecond'))}
      ${chart(t('Latency'), 'ms', line('p95', 'warm', 'p95'), line('p50', 'accent', 'p50'))}
      ${chart(t('Errors'), '%', line('5xx', 'danger', 'serverErrorPercent'), line('4xx', 'quiet', 'clientErrorPercent'))}
      ${chart(t('Income'), 'cr', line(t('Income'), 'accent', 'income'))}
    </div>
    <details>
      <summary>Jobs, disk, lag and upstreams</summary>
      <div class="charts">
        ${chart(t('Jobs'), '', line(t('Jobs'), 'accent', 'jobs'))}
        ${chart(t('Free disk space'), 'bytes', line(t('Free disk space'), 'accent', 'free'))}
        ${chart(t('Event-loop lag'), 'ms', line(t('Lag'), 'warm', 'lateMs'))}
        ${chart(t('Upstream failures'), '', line(t('Failures'), 'danger', 'upstreamErrors'))}
      </div>
    </details>`
}

type Stats = [name: Text, value: Part][]

/** Facts of this moment that the health line does not have. */
async function getStats(ctx: AppContext): Promise<Stats> {
  const [{ balance, held }, agents, people, problem] = await Promise.all([
    readTotals(ctx),
    countAgents(ctx),
    countPeople(ctx),
    ctx.storage.problem(),
  ])
  return [
    [t('Agents'), html`<a href="/console/agents">${formatCompact(agents)}</a>`],
    [t('People'), html`<a href="/console/people">${formatCompact(people)}</a>`],
    [
      t('Total balance'),
      html`${renderCredits(balance)} credits
        <span class="small">${formatDollars(toUsd(balance))}</span>`,
    ],
    [t('On hold'), html`${renderCredits(held)} credits`],
    ...filesState(ctx, problem),
  ]
}

/** Renders the state of the only server. A table has those of several. */
function ownStats(states: Collected<ServerState>): Stats {
  const [own] = states.reports
  if (!own || hasSeveral(states)) return []
  return [
    [t('Memory'), formatBytes(own.value.memory)],
    [t('Up since'), renderDateTime(own.value.startedAt)],
    [t('Version'), own.value.version],
  ]
}

/** Renders the state of the bucket; nothing where files are in the data folder. */
function filesState({ config: { s3Bucket } }: AppContext, problem: string | undefined): Stats {
  if (s3Bucket === '') return []
  return [
    [
      t('Files'),
      problem === undefined
        ? t('In bucket {s3Bucket}', { s3Bucket })
        : t('Unavailable: {problem}', { problem }),
    ],
  ]
}

type SetupStepName = 'provider' | 'url' | 'backup' | 'app' | 'payments' | 'developer'

/** A step of setting up a server. It is done when the server is in that state. */
interface SetupStep {
  name: SetupStepName
  isDone: boolean
  /** A server may well do without it. */
  isOptional: boolean
}

/** Returns the steps with their current state. Backups of PostgreSQL are not visible here. */
async function readChecklist(ctx: AppContext): Promise<SetupStep[]> {
  const { config, upstreams, db, x402 } = ctx
  const [{ backups }, sample, { items }] = await Promise.all([
    listBackups(ctx),
    readFirstApp(config.dataDir),
    listItems(ctx, { limit: 2 }),
  ])
  const step = (name: SetupStepName, isDone: boolean, isOptional = false): SetupStep => ({
    name,
    isDone,
    isOptional,
  })
  const backup = step(
    'backup',
    config.backupTo !== '' || backups.some(({ manifest }) => manifest !== undefined),
  )
  return [
    step(
      'provider',
      upstreams.names.some((name) => name !== 'demo'),
    ),
    step('url', config.appUrl !== ''),
    ...(db.file ? [backup] : []),
    step(
      'app',
      items.some(({ id }) => id !== sample),
    ),
    step('payments', openMethods(config).length > 0 || x402 !== undefined, true),
    step('developer', config.gatewayDeveloperRole === 'system', true),
  ]
}
