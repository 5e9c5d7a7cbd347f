import type { Hit } from '../findings.ts'
import { isRemote, type Page, type Script } from '../page.ts'
import { CHUNK, TEXT } from '../token-kinds.ts'
import { credentialOf } from './credentials.ts'

const asking =
  'answers no at first, and the press is made again with the answer: outside of a press nothing ' +
  'comes of it. Ask with a <dialog> of your own.'
const pickers = 'is refused here: save by a[download], open by <input type=file>.'
const calls: Record<string, string> = {
  confirm: `confirm() ${asking}`,
  prompt: `prompt() ${asking}`,
  print: 'print() does nothing here: offer a file to keep, by a[download].',
  showSaveFilePicker: `showSaveFilePicker() ${pickers}`,
  showOpenFilePicker: `showOpenFilePicker() ${pickers}`,
}
const members: Record<string, [of: string, help: string]> = {
  open: [
    'indexedDB',
    'indexedDB cannot be opened here: keep saves in localStorage, which has 1 MB for each app.',
  ],
  getUserMedia: ['mediaDevices', 'There is no camera and no microphone here.'],
  getCurrentPosition: ['geolocation', 'Where the visitor is, is not told here.'],
  watchPosition: ['geolocation', 'Where the visitor is, is not told here.'],
  readText: ['clipboard', 'The clipboard is not read here: take what is pasted (event paste).'],
}
const popups =
  'No window opens here, and null comes back: show what it would hold as a part of the page, or ' +
  'offer it as a file, by a[download].'
const frames = 'Frames do not work here in all browsers: show what is in it as a part of the page.'
const leaving =
  'This leaves the page, which then begins anew: write location.hash, and hear hashchange.'
const sending =
  'A form is sent nowhere here: use a link, which the viewer offers to open, or handle submit.'

/** What the sandbox has another way of, or none: the page goes on, and does not do what it says. */
export function* standIns(page: Page): Generator<Hit> {
  for (const at of page.frames) yield hit(at, frames)
  // Of a form that asks for what is secret another rule speaks.
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
    for (const index of find('location'))
      if (isHash(script, index)) yield hit(script.place(index), leaving)
  }
}

const hit = (at: number, help: string): Hit => ({ code: 'sandbox.differs', at, help })

/** True where a script makes a function of that name itself. */
function makes({ tokens: { texts, find } }: Script, name: string): boolean {
  return find(name).some((index) => {
    const before = texts[index - 1] ?? ''
    if (/^(?:function|const|let|var|import|class)$/.test(before)) return true
    if (texts[index + 1] === '=' && before !== '.') return true
    return /^[{,(]$/.test(before) && /^[,)}]$/.test(texts[index + 1] ?? '')
  })
}

/** A call of the window's own function, rather than of a method or of one the page made. */
function isCall(script: Script, index: number, own: boolean): boolean {
  const { texts } = script.tokens
  if (texts[index + 1] !== '(') return false
  if (texts[index - 1] === '.') return texts[index - 2] === 'window'
  return !own && texts[index - 1] !== 'function' && !isMethod(script, index + 1)
}

/** `window.open('')`: one with an address is handed to the viewer, which offers it. */
function opensEmpty({ tokens: { kinds, texts } }: Script, index: number): boolean {
  if (texts[index - 1] !== '.' || texts[index - 2] !== 'window' || texts[index + 1] !== '(')
    return false
  const given = texts[index + 2] ?? ''
  return kinds[index + 2] === TEXT ? /^(?:about:blank)?$/.test(given) : given === ')'
}

const argumentsMax = 60

/** True for `confirm(text) {`, in a class or an object. */
function isMethod({ tokens: { texts } }: Script, open: number): boolean {
  let depth = 0
  for (let at = open; at < open + argumentsMax; at++) {
    if (texts[at] === '(') depth++
    if (texts[at] === ')' && --depth === 0) return texts[at + 1] === '{'
  }
  return false
}

/** `location = '#a'`, `location.href = '#a'`, `location.assign('#a')`. */
function isHash({ tokens: { kinds, texts } }: Script, index: number): boolean {
  if (texts[index - 1] === '.' && !/^(?:window|document|self)$/.test(texts[index - 2] ?? ''))
    return false
  const member = texts[index + 1] === '.' ? texts[index + 2] : ''
  const sign = texts[index + (member === '' ? 1 : 3)]
  const set = (member === '' || member === 'href') && sign === '='
  const call = (member === 'assign' || member === 'replace') && sign === '('
  const at = index + (member === '' ? 2 : 4)
  const value = texts[at] === '`' ? at + 1 : at
  const isText = kinds[value] === TEXT || kinds[value] === CHUNK
  return (set || call) && isText && (texts[value] ?? '').startsWith('#')
}
