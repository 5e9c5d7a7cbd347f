/** The script of pages that declare knobs: runs after the boot script, before the page. */
import {
  fitValue,
  type Knob,
  knobName,
  type KnobValue,
  readKnobs,
} from '../../src/apps/knobs/knobs.ts'
import { listen } from '../frame/listen.ts'
import { field } from '../frame/messages.ts'
import { put } from '../frame/quiet.ts'
import { shellAbove } from '../frame/shell-window.ts'

const script = document.currentScript
script?.remove()
const shell = shellAbove(Number(script?.dataset['depth']))

/** Values that the player has turned. */
const turned = new Map<string, KnobValue>()
const listeners = new Set<(name: string, value: KnobValue) => void>()

/** Reads the declarations that the parser has reached. The sandbox may have renamed the element. */
const declared = (): Knob[] =>
  readKnobs(
    [...document.querySelectorAll(`[name="${knobName}"]`)].map(
      (element) => element.getAttribute('content') ?? '',
    ),
  )
const valueOf = ({ name, value }: Knob): KnobValue => turned.get(name) ?? value

/** Sets `--knob-speed` for each knob. A switch is 1 or 0. */
function paint(): void {
  for (const knob of declared()) {
    const value = valueOf(knob)
    const text = typeof value === 'boolean' ? String(Number(value)) : String(value)
    document.documentElement.style.setProperty(`--knob-${knob.name}`, text)
  }
}

listen('message', (event) => {
  if (event.source !== shell || field(event.data, 'type') !== 'service:knobs') return
  event.stopImmediatePropagation()
  const values = field(event.data, 'values')
  for (const knob of declared()) {
    const { name } = knob
    const value = fitValue(knob, field(values, name))
    if (value === undefined || value === valueOf(knob)) continue
    turned.set(name, value)
    paint()
    for (const listener of listeners) listener(name, value)
    dispatchEvent(new CustomEvent('knobchange', { detail: { name, value } }))
  }
})

// The first paint has the values: the observer runs before scripts and styles that follow.
const observer = new MutationObserver(paint)
observer.observe(document, { childList: true, subtree: true })
addEventListener('load', () => observer.disconnect(), { once: true })

if (script) {
  const knobs = Object.freeze({
    /** Returns the value of a knob; undefined where the page declares none of this name. */
    get(name: string): KnobValue | undefined {
      const knob = declared().find((one) => one.name === name)
      return knob && valueOf(knob)
    },
    /** Returns all values by their names. */
    all: (): Record<string, KnobValue> =>
      Object.fromEntries(declared().map((knob) => [knob.name, valueOf(knob)])),
    /** Calls the listener at each change. Returns a function that ends it. */
    onChange(listener: (name: string, value: KnobValue) => void): () => void {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  })
  const known: object = Reflect.get(window, 'service')
  put(window, 'service', Object.freeze({ ...known, knobs }))
}
