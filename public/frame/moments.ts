import { momentKey, type TakeMoment } from '../moments/recorded.ts'
import { t } from '../words.ts'
import { field, type RecordMoments } from './messages.ts'
import type { Shell } from './opened-page.ts'

/** The recorder that runs in the app, as text (scripts/build-public.ts). */
declare const recorderScript: string

/** The module moments/shell.ts. */
interface Moments {
  showMoment(recorded: unknown, shell: Pick<Shell, 'at' | 'notify'>): Promise<void>
}

const replyMs = 8_000
/** An app may send the key at any time. For this long after a moment is closed, it opens none. */
const quietMs = 3_000

/** The shell's end of the recorder of one start of the app, which may send anything. */
class Recorder {
  readonly #port: MessagePort
  #taken: (recorded: unknown) => void = () => undefined

  constructor(app: Window, { ready, pressed }: { ready(): void; pressed(): void }) {
    const { port1, port2 } = new MessageChannel()
    const message: RecordMoments = { type: 'service:record', script: recorderScript }
    app.postMessage(message, '*', [port2])
    this.#port = port1
    port1.addEventListener('message', ({ data }) => {
      const type = field(data, 'type')
      if (type === 'ready') ready()
      else if (type === 'pressed') pressed()
      else if (type === 'taken') this.#taken(field(data, 'recorded'))
    })
    port1.start()
  }

  /** Resolves with what was recorded; undefined where no reply arrives. */
  take(): Promise<unknown> {
    const message: TakeMoment = { type: 'take' }
    return new Promise((resolve) => {
      this.#taken = resolve
      setTimeout(resolve, replyMs)
      this.#port.postMessage(message)
    })
  }

  close(): void {
    this.#port.close()
  }
}

/** The button that makes a looping picture of the last seconds. Apps without a canvas have none. */
export function moments({ host, at, notify }: Shell): void {
  const button = document.getElementById('moment')
  const { moments: path = '' } = document.documentElement.dataset
  // The preview browser shows the app alone.
  if (!button || 'bare' in document.documentElement.dataset) return
  let recorder: Recorder | undefined
  let isOpen = false
  let quietUntil = 0
  const open = async (): Promise<void> => {
    if (!recorder || isOpen || button.hidden) return
    isOpen = true
    try {
      const [recorded, module]: [unknown, Moments] = await Promise.all([
        recorder.take(),
        // Another server of an upgrade may have the module.
        import(path).catch(() => import(`${path}?again`)),
      ])
      await module.showMoment(recorded, { at, notify })
    } catch {
      notify({ text: t('The moment did not load. Reload the page.'), ms: 5_000 })
    }
    isOpen = false
    quietUntil = performance.now() + quietMs
  }
  const pressed = (): void => {
    // A press in the app is one in this page, too.
    const isPressed = navigator.userActivation?.isActive !== false
    if (isPressed && performance.now() > quietUntil) void open()
  }
  const ready = (): void => void (button.hidden = false)
  const record = (): void => {
    button.hidden = true
    recorder?.close()
    const { app } = host
    recorder = app ? new Recorder(app, { ready, pressed }) : undefined
  }
  button.addEventListener('click', () => void open())
  addEventListener('keydown', ({ key, repeat }) => {
    if (key === momentKey && !repeat) void open()
  })
  // Each document that starts gets a recorder.
  addEventListener('message', ({ source, data }) => {
    if (source && source === host.app && field(data, 'type') === 'service:hello') record()
  })
  if ('started' in document.documentElement.dataset) record()
}
