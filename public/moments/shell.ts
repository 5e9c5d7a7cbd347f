/** The module of the shell that shows a moment. It is loaded with the first press of its button. */
import { create } from '../bridge/ask.ts'
import { appTitle, showDialog } from '../bridge/board.ts'
import { CallError } from '../bridge/protocol.ts'
import { callServer } from '../bridge/server.ts'
import { copyText } from '../frame/copy-text.ts'
import { field } from '../frame/messages.ts'
import { type Offer, size } from '../frame/notices.ts'
import { fileName, saveFile } from '../frame/save-file.ts'
import { t } from '../words.ts'
import { encodeGif, type Frame } from './gif.ts'
import { type Moment, momentIn } from './images.ts'

/** The style of the dialog, as text (scripts/build-public.ts). */
declare const momentsStyle: string

const stillQuality = 0.92

let style: CSSStyleSheet | undefined

/** Adds the style with the first moment, so that no page of an app has it before. */
function addStyle(): void {
  if (style) return
  style = new CSSStyleSheet()
  style.replaceSync(momentsStyle)
  document.adoptedStyleSheets.push(style)
}

/** Returns the public link of the app, as the share dialog has it. */
const appLink = (): string =>
  document.querySelector<HTMLInputElement>('#sharing input')?.value ?? location.href

/** Returns a canvas that plays the images until the signal ends it. */
function player(frames: Frame[], label: string, signal: AbortSignal): HTMLCanvasElement {
  const [first] = frames
  const { width = 1, height = 1 } = first?.pixels ?? {}
  const canvas = create('canvas', [], { width, height })
  canvas.setAttribute('role', 'img')
  canvas.setAttribute('aria-label', label)
  const context = canvas.getContext('2d')
  const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches
  const show = (at: number): void => {
    const frame = frames[at % frames.length]
    if (!frame || signal.aborted) return
    context?.putImageData(frame.pixels, 0, 0)
    if (!isStill && frames.length > 1) setTimeout(() => show((at + 1) % frames.length), frame.ms)
  }
  show(0)
  return canvas
}

/** A button that leaves the dialog open. */
const action = (label: string, className: string): HTMLButtonElement =>
  create('button', [label], { type: 'button', className, disabled: true })

/** Shows the last seconds of an app as a looping image, to save, share and set as cover. */
export async function showMoment(
  recorded: unknown,
  { at, notify }: { at: string; notify(offer: Offer): void },
): Promise<void> {
  const [title, link] = [appTitle(), appLink()]
  const moment = momentIn(recorded, { title, link: link.replace(/^https?:\/\//, '') })
  if (!moment) {
    const text = t('There is no picture of this app yet. Play on and try again.')
    return notify({ text, ms: 5_000 })
  }
  addStyle()
  const closed = new AbortController()
  const { signal } = closed
  const status = create('p', [t('Making the picture …')])
  status.setAttribute('role', 'status')
  const preview = player(moment.frames, t('The last seconds of {title}', { title }), signal)
  const [, , app = ''] = at.split('/')
  const buttons = [coverButton(app, moment, status, signal), ...fileButtons(moment, status, signal)]
  await showDialog(t('Moment'), [preview, status], signal, buttons, t('Close'))
  closed.abort()
}

/** The buttons that save and share the image, once it is made. */
function fileButtons({ frames }: Moment, status: HTMLElement, signal: AbortSignal): HTMLElement[] {
  const [title, link] = [appTitle(), appLink()]
  const share = action(t('Share'), 'second')
  const save = action(t('Save'), '')
  encodeGif(frames, signal).then(
    (gif) => {
      const name = `${fileName(title)}.gif`
      const files = [new File([gif], name, { type: gif.type })]
      const canSend = 'canShare' in navigator && navigator.canShare({ files })
      if (!canSend) share.textContent = t('Copy link')
      status.textContent = `GIF · ${size(gif.size)}`
      save.addEventListener('click', () => saveFile(name, gif))
      share.addEventListener('click', () => {
        if (canSend) void navigator.share({ files, title, text: link }).catch(() => undefined)
        else if (copyText(link)) share.textContent = t('Copied')
      })
      share.disabled = save.disabled = false
    },
    () => {
      if (!signal.aborted) status.textContent = t('The picture could not be made. Try again.')
    },
  )
  return [share, save]
}

/** The button with which the owner of the maker sets the newest image as the cover. */
function coverButton(
  app: string,
  { still }: Moment,
  status: HTMLElement,
  signal: AbortSignal,
): HTMLButtonElement {
  const button = action(t('Set as cover'), 'second')
  button.hidden = true
  const call = async (method: string, input?: object): Promise<unknown> =>
    (await callServer({ app, signal }, method, '/own-cover', input)).json()
  call('GET').then(
    (reply) => {
      button.hidden = field(reply, 'own') !== true
      button.disabled = false
    },
    () => undefined,
  )
  button.addEventListener('click', async () => {
    button.disabled = true
    try {
      await call('PUT', { image: still.toDataURL('image/jpeg', stillQuality) })
      status.textContent = t('The cover is set to the newest picture.')
    } catch (error) {
      button.disabled = false
      const message = error instanceof CallError ? error.message : ''
      status.textContent = message || t('The cover was not set. Try again.')
    }
  })
  return button
}
