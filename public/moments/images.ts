import { field, text } from '../frame/messages.ts'
import type { Frame } from './gif.ts'
import { columns, everyMs, frameSize, framesMax, momentMs, rows, stillSize } from './recorded.ts'

/** A moment of an app: its images in their order, and the newest one, larger. */
export interface Moment {
  frames: Frame[]
  still: HTMLCanvasElement
}

/** The texts below each image. */
export interface Caption {
  title: string
  link: string
}

const widthMin = 240
const captionHeight = 52
const frameMsMax = 1_000
const frameMsMin = 20

/** Returns pixels that an app sent; undefined for anything else, and above a bound. */
const pixelsIn = (data: unknown, sideMax: number, pixelsMax: number): ImageData | undefined =>
  data instanceof ImageData &&
  Math.max(data.width, data.height) <= sideMax &&
  data.width * data.height <= pixelsMax
    ? data
    : undefined

function createContext(width: number, height: number): CanvasRenderingContext2D {
  const canvas = Object.assign(document.createElement('canvas'), { width, height })
  const context = canvas.getContext('2d', { willReadFrequently: true })
  if (!context) throw new Error('no canvas')
  return context
}

const canvasOf = (pixels: ImageData): HTMLCanvasElement => {
  const context = createContext(pixels.width, pixels.height)
  context.putImageData(pixels, 0, 0)
  return context.canvas
}

/** Returns whether anything was drawn. WebGL is empty outside of the frames of its page. */
const isDrawn = ({ data }: ImageData): boolean => {
  for (let at = 3; at < data.length; at += 4) if (data[at]) return true
  return false
}

/** Returns the times that an app sent by their places in the sheet, oldest first. */
function placesIn(data: unknown): { place: number; at: number }[] {
  const times: unknown[] = Array.isArray(data) ? data.slice(0, framesMax) : []
  const places = times.flatMap((at, place) =>
    typeof at === 'number' && Number.isFinite(at) ? [{ place, at }] : [],
  )
  const newest = Math.max(...places.map(({ at }) => at))
  return places.filter(({ at }) => at > newest - momentMs).toSorted((a, b) => a.at - b.at)
}

/** Reads what an app has recorded. Returns undefined where it is no moment. */
export function momentIn(recorded: unknown, caption: Caption): Moment | undefined {
  const { sideMax, pixelsMax } = frameSize
  const most = Math.max(columns, rows)
  const sheet = pixelsIn(field(recorded, 'sheet'), sideMax * most, pixelsMax * framesMax)
  const sent = pixelsIn(field(recorded, 'still'), stillSize.sideMax, stillSize.pixelsMax)
  if (!sheet || !sent || sheet.width % columns > 0 || sheet.height % rows > 0) return undefined
  const background = text(recorded, 'background', 100)
  const [width, height] = [sheet.width / columns, sheet.height / rows]
  const all = createContext(sheet.width, sheet.height)
  all.putImageData(sheet, 0, 0)
  const drawn = placesIn(field(recorded, 'times')).flatMap(({ place, at }) => {
    const pixels = all.getImageData(
      (place % columns) * width,
      Math.floor(place / columns) * height,
      width,
      height,
    )
    return isDrawn(pixels) ? [{ image: canvasOf(pixels), at }] : []
  })
  const frames = drawn.map(({ image, at }, n) => {
    const next = drawn[n + 1]?.at ?? at + everyMs
    const ms = Math.min(frameMsMax, Math.max(frameMsMin, next - at))
    return { pixels: compose(image, background, caption), ms }
  })
  const newest = isDrawn(sent) ? canvasOf(sent) : drawn.at(-1)?.image
  if (!newest) return undefined
  const still = createContext(newest.width, newest.height)
  fill(still, background)
  still.drawImage(newest, 0, 0)
  return { frames, still: still.canvas }
}

/** Fills a canvas with a color of the app. One that is none leaves it black. */
function fill(context: CanvasRenderingContext2D, color: string): void {
  for (const style of ['#000', color]) {
    context.fillStyle = style
    context.fillRect(0, 0, context.canvas.width, context.canvas.height)
  }
}

/** Returns an image with the caption below it. */
function compose(image: HTMLCanvasElement, background: string, caption: Caption): ImageData {
  const width = Math.max(widthMin, image.width)
  const height = image.height + captionHeight
  const context = createContext(width, height)
  fill(context, background)
  context.drawImage(image, Math.floor((width - image.width) / 2), 0)
  drawCaption(context, image.height, caption)
  return context.getImageData(0, 0, width, height)
}

function drawCaption(context: CanvasRenderingContext2D, top: number, caption: Caption): void {
  const { width, height } = context.canvas
  context.fillStyle = '#17191b'
  context.fillRect(0, top, width, height - top)
  const [edge, room] = [12, width - 24]
  context.font = '600 15px system-ui, sans-serif'
  context.fillStyle = '#fff'
  context.fillText(cut(context, caption.title, room), edge, top + 22)
  context.font = '12px system-ui, sans-serif'
  context.fillStyle = '#5cc4b5'
  // The link stays whole: a long one gets narrow letters.
  context.fillText(caption.link, edge, top + 40, room)
}

/** Returns the start of a text that fits a width. */
function cut(context: CanvasRenderingContext2D, words: string, room: number): string {
  const letters = Array.from(words)
  const hasSpace = (shown: string): boolean => context.measureText(shown).width <= room
  if (hasSpace(words)) return words
  while (letters.length > 0 && !hasSpace(`${letters.join('')}…`)) letters.pop()
  return `${letters.join('')}…`
}
