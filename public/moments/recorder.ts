/**
 * Records the last four seconds of the canvases of a page, in one sheet of bounded size. The shell
 * sends this script as text to a running app, with `boot` as its parameter.
 */
import { field } from '../frame/messages.ts'
import type { RecorderBoot } from '../frame/recording.ts'
import {
  columns,
  everyMs,
  frameSize,
  framesMax,
  type FromRecorder,
  momentKey,
  type Recorded,
  rows,
  stillSize,
} from './recorded.ts'

declare const boot: RecorderBoot

/** Canvases that a page may stack. */
const layersMax = 16
/** Side in CSS pixels below which a canvas is no stage. */
const stageSideMin = 96

interface Layer {
  canvas: HTMLCanvasElement
  box: DOMRect
}

/** The canvases of the page, and the part of the largest that is in the window. */
interface View {
  layers: Layer[]
  stage: HTMLCanvasElement
  region: DOMRect
}

interface Size {
  width: number
  height: number
}

const canvases = document.getElementsByTagName('canvas')
let sheet: CanvasRenderingContext2D | null = null
let times: number[] = []
let count = 0
let isWaiting = false
/** Time before which there is nothing to do. */
let due = 0

const send = (message: FromRecorder, buffers: Transferable[] = []): void =>
  boot.port?.postMessage(message, buffers)

const area = ({ width, height }: Size): number => width * height

function inWindow({ left, top, right, bottom }: DOMRect): DOMRect {
  const [x, y] = [Math.max(0, left), Math.max(0, top)]
  const width = Math.max(0, Math.min(innerWidth, right) - x)
  return new DOMRect(x, y, width, Math.max(0, Math.min(innerHeight, bottom) - y))
}

function look(): View | undefined {
  const layers = [...canvases]
    .slice(0, layersMax)
    .map((canvas) => ({ canvas, box: canvas.getBoundingClientRect() }))
    .filter(({ canvas, box }) => area(canvas) > 0 && area(inWindow(box)) > 0)
  const [largest] = layers.toSorted((a, b) => area(inWindow(b.box)) - area(inWindow(a.box)))
  if (!largest) return undefined
  const region = inWindow(largest.box)
  const isStage = Math.min(region.width, region.height) >= stageSideMin
  return isStage ? { layers, stage: largest.canvas, region } : undefined
}

/** Returns a size within bounds, and never larger than what the page shows. */
function fit(size: Size, { pixelsMax, sideMax }: typeof frameSize): Size {
  const { width, height } = size
  const scale = Math.min(1, Math.sqrt(pixelsMax / area(size)), sideMax / Math.max(width, height))
  return {
    width: Math.max(1, Math.floor(width * scale)),
    height: Math.max(1, Math.floor(height * scale)),
  }
}

/** Draws the view at a place. What is transparent stays so: it tells an empty frame of WebGL. */
function draw(to: CanvasRenderingContext2D, { layers, region }: View, place: DOMRect): void {
  const { x, y, width, height } = place
  const scale = width / region.width
  to.save()
  to.beginPath()
  to.rect(x, y, width, height)
  to.clip()
  to.clearRect(x, y, width, height)
  for (const { canvas, box } of layers) {
    const [left, top] = [x + (box.x - region.x) * scale, y + (box.y - region.y) * scale]
    const [wide, high] = [box.width * scale, box.height * scale]
    // Large pixels of a small canvas stay sharp.
    to.imageSmoothingEnabled = canvas.width > wide
    to.drawImage(canvas, left, top, wide, high)
  }
  to.restore()
}

function createContext({ width, height }: Size): CanvasRenderingContext2D | null {
  const canvas = Object.assign(document.createElement('canvas'), { width, height })
  // Stays on the graphics card until a moment is taken.
  return canvas.getContext('2d', { willReadFrequently: false })
}

/** Draws the view at the next place of the sheet. A view of another size begins a new one. */
function record(view: View): void {
  const { width, height } = fit(view.region, frameSize)
  const size = { width: width * columns, height: height * rows }
  if (sheet?.canvas.width !== size.width || sheet.canvas.height !== size.height) {
    sheet = createContext(size)
    times = []
    count = 0
  }
  if (!sheet) return
  const at = count % framesMax
  const [column, row] = [at % columns, Math.floor(at / columns)]
  draw(sheet, view, new DOMRect(column * width, row * height, width, height))
  times[at] = performance.now()
  count += 1
  if (count > 1) return
  // Throws for canvases with images that may not be read.
  sheet.getImageData(0, 0, 1, 1)
  send({ type: 'ready' })
}

function colorBelow(stage: Element): string {
  for (let at: Element | null = stage; at; at = at.parentElement) {
    const { backgroundColor } = getComputedStyle(at)
    if (!/, 0\)$|^transparent$/.test(backgroundColor)) return backgroundColor
  }
  return '#fff'
}

/** Returns what was recorded, with an image of now; undefined where the page shows no canvas. */
function take(): Recorded | undefined {
  const view = look()
  const size = view && fit(view.region, stillSize)
  const still = size && createContext(size)
  if (view) record(view)
  if (!sheet || !view || !still) return undefined
  draw(still, view, new DOMRect(0, 0, size.width, size.height))
  return {
    sheet: sheet.getImageData(0, 0, sheet.canvas.width, sheet.canvas.height),
    times,
    still: still.getImageData(0, 0, size.width, size.height),
    background: colorBelow(view.stage),
  }
}

function reply(): void {
  let recorded: Recorded | undefined
  try {
    recorded = take()
  } catch {
    // The page has images that may not be read.
  }
  const buffers = recorded ? [recorded.sheet.data.buffer, recorded.still.data.buffer] : []
  send({ type: 'taken', recorded }, buffers)
}

/** Runs after each timer, frame and move of the page: a page at rest is not recorded. */
function plan(): void {
  const now = performance.now()
  if (isWaiting || now < due) return
  due = now + everyMs
  if (canvases.length === 0) return
  isWaiting = true
  afterDrawing(() => {
    isWaiting = false
    // This frame is not one of the page.
    due = Math.max(due, performance.now() + 5)
    try {
      const view = look()
      if (view) record(view)
    } catch {
      // The page has images that may not be read.
      due = Infinity
    }
  })
}

boot.onRun(plan)

/**
 * Runs the work after the next frame of the page is drawn, where its WebGL can still be read: a
 * request that follows those of the page runs after them.
 */
function afterDrawing(work: () => void): void {
  setTimeout(() => requestAnimationFrame(work))
}

boot.listen('pointermove', plan, { capture: true, passive: true })
boot.listen('keydown', ({ key, repeat }) => {
  if (key === momentKey && !repeat) send({ type: 'pressed' })
})
boot.port?.addEventListener('message', ({ data }) => {
  if (field(data, 'type') === 'take') afterDrawing(reply)
})
boot.port?.start()
