import type { Hit } from '../findings.ts'
import { isRemote, type Page, type Script } from '../page.ts'
import { TEXT } from '../tokens.ts'
import { credentialOf } from './phish.ts'

const asking =
  'returns no at first here, and the code that asked is repeated with the answer. Use your own ' +
  '<dialog>.'
const pickers = 'is not available here. Save with a[download], open with <input type=file>.'
const calls: Record<string, string> = {
  confirm: `confirm() ${asking}`,
  prompt: `prompt() ${asking}`,
  print: 'print() does not print at once here: the viewer shows a button.',
  showSaveFilePicker: `showSaveFilePicker() ${pickers}`,
  showOpenFilePicker: `showOpenFilePicker() ${pickers}`,
}
const members: Record<string, [of: string, help: string]> = {
  getUserMedia: ['mediaDevices', 'Camera and microphone are not available here.'],
  getCurrentPosition: ['geolocation', 'Geolocation is not available here.'],
  watchPosition: ['geolocation', 'Geolocation is not available here.'],
  readText: ['clipboard', 'Reading the clipboard is not available here. Handle the paste event.'],
}
const popups =
  'window.open() opens no window here and returns null. Show the content in the page, or offer it ' +
  'as a file with a[download].'
const frames = 'Frames do not work here in all browsers. Show the content in the page.'
const sending =
  'Forms are not sent here. Use a link, which the viewer offers to open, or handle submit.'

/** Browser features that are missing or different in the sandbox. */
export function* sandboxDifferences(page: Page): Generator<Hit> {
  for (const at of page.frames) yield hit(at, frames)
  // Another rule reports forms with credentials.
  if (!page.fields.some(credentialOf))
    for (const { action, at } of page.forms) if (isRemote(action)) yield hit(at, sending)
  const own = new Set(Object.keys(calls).filter((name) => page.scripts.some((s) => makes(s, name))))
  for (const script of page.scripts) {
    for (const [name, help] of Object.entries(calls))
      for (const index of script.tokens.find(name))
        if (isCall(script, index, own.has(name))) yield hit(script.place(index), help)
    const { texts, find } = script.tokens
    for (const [name, [of, help]] of Object.entries(members))
      for (const index of find(name))
        if (texts[index - 1] === '.' && texts[index - 2] === of && texts[index + 1] === '(')
          yield hit(script.place(index - 2), help)
    for (const index of find('open'))
      if (opensEmpty(script, index)) yield hit(script.place(index), popups)
    for (const index of find('createElement'))
      if (texts[index + 2] === 'iframe') yield hit(script.place(index), frames)
  }
}

const hit = (at: number, help: string): Hit => ({ code: 'sandbox.differs', at, help })

/** Returns whether a script defines a function of that name. */
function makes({ tokens: { texts, find } }: Script, name: string): boolean {
  return find(name).some((index) => {
    const before = texts[index - 1] ?? ''
    if (/^(?:function|const|let|var|import|class)$/.test(before)) return true
    if (texts[index + 1] === '=' && before !== '.') return true
    return /^[{,(]$/.test(before) && /^[,)}]$/.test(texts[index + 1] ?? '')
  })
}

/** Returns whether a call is to the window's function, not to a method or the page's own. */
function isCall(script: Script, index: number, own: boolean): boolean {
  const { texts } = script.tokens
  if (texts[index + 1] !== '(') return false
  if (texts[index - 1] === '.') return texts[index - 2] === 'window'
  return !own && texts[index - 1] !== 'function' && !isMethod(script, index + 1)
}

/** Matches `window.open('')`. The viewer offers a link for a call with a URL. */
function opensEmpty({ tokens: { kinds, texts } }: Script, index: number): boolean {
  if (texts[index - 1] !== '.' || texts[index - 2] !== 'window' || texts[index + 1] !== '(')
    return false
  const given = texts[index + 2] ?? ''
  return kinds[index + 2] === TEXT ? /^(?:about:blank)?$/.test(given) : given === ')'
}

const argumentsMax = 60

/** Returns whether `confirm(text) {` defines a method. */
function isMethod({ tokens: { texts } }: Script, open: number): boolean {
  let depth = 0
  for (let at = open; at < open + argumentsMax; at++) {
    if (texts[at] === '(') depth++
    if (texts[at] === ')' && --depth === 0) return texts[at + 1] === '{'
  }
  return false
}
