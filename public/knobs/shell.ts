/** The script of the shell for apps with knobs: the panel beside the app that turns them. */
import { fitValue, type Knob, type KnobValue } from '../../src/apps/knobs/knobs.ts'
import { create } from '../bridge/ask.ts'
import { CallError } from '../bridge/protocol.ts'
import { callServer } from '../bridge/server.ts'
import { SandboxHost } from '../frame/host.ts'
import { field, text } from '../frame/messages.ts'
import { t } from '../words.ts'

const root = document.documentElement
const { at = '', frame: url = '', knobs: given = '[]', keep } = root.dataset
const [, , app = ''] = at.split('/')
const knobs: Knob[] = JSON.parse(given)
/** The controls of the panel, by the names of their knobs. */
const controls = new Map<string, Control>()
const frame = document.querySelector('iframe')
const button = document.getElementById('tweak')
const host = frame && new SandboxHost(frame, url)

interface Control {
  knob: Knob
  element: HTMLInputElement | HTMLSelectElement
  /** Shows the number of a range. */
  output: HTMLSpanElement
}

function createControl(knob: Knob): Control {
  const output = create('span', [])
  const { name: id, type } = knob
  const element =
    knob.type === 'choice'
      ? create(
          'select',
          knob.options.map((option) => create('option', [option])),
        )
      : create('input', [], { type: type === 'switch' ? 'checkbox' : type })
  element.id = `knob-${id}`
  if (knob.type === 'range' && element instanceof HTMLInputElement) {
    element.min = String(knob.min)
    element.max = String(knob.max)
    element.step = String(knob.step)
  }
  return { knob, element, output }
}

function valueOf({ knob, element }: Control): KnobValue {
  const value =
    knob.type === 'range'
      ? Number(element.value)
      : knob.type === 'switch' && element instanceof HTMLInputElement
        ? element.checked
        : element.value
  return fitValue(knob, value) ?? knob.value
}

function show({ knob, element, output }: Control, value: KnobValue): void {
  if (typeof value === 'boolean' && element instanceof HTMLInputElement) element.checked = value
  else element.value = String(value)
  if (knob.type === 'range') output.textContent = String(value)
}

const valuesNow = (): Record<string, KnobValue> =>
  Object.fromEntries([...controls].map(([name, control]) => [name, valueOf(control)]))

const isTurned = (): boolean =>
  [...controls.values()].some((control) => valueOf(control) !== control.knob.value)

function send(): void {
  host?.app?.postMessage({ type: 'service:knobs', values: valuesNow() }, '*')
}

const status = create('p', [])
status.setAttribute('role', 'status')

/** Says what became of the press, with a link to what comes next. */
function report(words: string, label?: string, href?: string): void {
  status.replaceChildren(words)
  if (label === undefined || href === undefined) return
  status.append(' ', create('a', [label], { href }))
}

/** Refs of remixes whose response did not arrive, by their values: each is bought once. */
const refs = new Map<string, string>()

function createRef(): string {
  // Unlike randomUUID, it exists on plain http too.
  return crypto.getRandomValues(new Uint32Array(4)).join('-')
}

/** The server acts for an agent of the person who is signed in. */
async function keepRemix(): Promise<void> {
  report(t('Keeping …'))
  try {
    const values = valuesNow()
    const kind = JSON.stringify(values)
    const ref = refs.get(kind) ?? createRef()
    refs.set(kind, ref)
    const sent = { knobs: values, maxCredits: Number(keep), ref }
    const { signal } = new AbortController()
    const body: unknown = await (await callServer({ app, signal }, 'POST', '/keep', sent)).json()
    const id = text(field(body, 'app'), 'id', 12)
    refs.delete(kind)
    report(t('Kept.'), t('Open your remix'), `/a/${id}`)
  } catch (error) {
    const code = error instanceof CallError ? error.code : ''
    const message =
      (error instanceof CallError && error.message) || t('The remix was not kept. Try again.')
    if (code === 'no_key') {
      const next = encodeURIComponent(`/a/${app}`)
      report(t('A remix needs an account.'), t('Sign in'), `/sign-in?next=${next}`)
    } else if (code === 'not_found') report(message, t('Create an agent'), '/agents')
    else report(message)
  }
}

function openPanel(): void {
  const close = create('button', [t('Close')])
  const reset = create('button', [t('Reset')])
  const price = Number(keep)
  const label =
    price > 0 ? t('Keep as my remix · {price} credits', { price }) : t('Keep as my remix')
  const keeping = create('button', [label], { className: 'yes', hidden: keep === undefined })
  const rows = [...controls.values()].map(({ knob, element, output }) =>
    create('label', [create('span', [knob.label, ' ', output]), element]),
  )
  const panel = create(
    'aside',
    [
      create('h2', [t('Tweak')]),
      ...rows,
      create('div', [reset, close], { className: 'choice' }),
      keeping,
      status,
    ],
    { id: 'tweaks' },
  )
  panel.setAttribute('aria-label', t('Tweak'))
  close.addEventListener('click', () => toggle(false))
  reset.addEventListener('click', () => {
    for (const control of controls.values()) show(control, control.knob.value)
    send()
  })
  keeping.addEventListener('click', async ({ isTrusted }) => {
    if (!isTrusted) return
    keeping.disabled = true
    await keepRemix()
    keeping.disabled = false
  })
  document.body.append(panel)
}

function toggle(isOpen: boolean): void {
  if (isOpen) root.dataset['tweaking'] = ''
  else delete root.dataset['tweaking']
  button?.setAttribute('aria-expanded', String(isOpen))
  if (isOpen) controls.values().next().value?.element.focus()
  else frame?.focus()
}

for (const knob of knobs) {
  const control = createControl(knob)
  controls.set(knob.name, control)
  show(control, knob.value)
  control.element.addEventListener('input', () => {
    show(control, valueOf(control))
    send()
  })
}
openPanel()
button?.addEventListener('click', () => toggle(root.dataset['tweaking'] === undefined))
// The main script shows why a sandbox did not load.
host?.load().catch(() => undefined)
// A document that starts has the values of its page.
addEventListener('message', ({ source, data }) => {
  if (!source || source !== host?.app || field(data, 'type') !== 'service:hello') return
  if (isTurned()) send()
})
