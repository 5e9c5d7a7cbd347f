import type { Hit } from '../findings.ts'
import type { Page, Script } from '../page.ts'
import { NAME, TEXT } from '../tokens.ts'

const names = ['RTCPeerConnection', 'webkitRTCPeerConnection', 'mozRTCPeerConnection']

/** References to RTCPeerConnection in code, except comments, texts, object keys and `typeof`. */
export function* webrtc(page: Page): Generator<Hit> {
  for (const script of page.scripts) {
    for (const name of names)
      for (const index of script.tokens.find(name))
        if (!isMention(script, index)) yield hit(script, index)
    yield* computed(script)
  }
  for (const { value, at } of page.literals)
    if (names.includes(value)) yield { code: 'net.webrtc', at }
}

function hit({ place }: Script, index: number): Hit {
  return { code: 'net.webrtc', at: place(index) }
}

function isMention({ tokens: { texts } }: Script, index: number): boolean {
  const before = texts[index - 1]
  const key = texts[index + 1] === ':' && (before === '{' || before === ',')
  if (before !== '.') return key || before === 'typeof'
  return texts[index - 3] === 'typeof'
}

/** Finds `window['RTCPeerConnection']`, also through a constant. */
function* computed(script: Script): Generator<Hit> {
  const { kinds, texts, find } = script.tokens
  for (let index = 0; index < kinds.length; index++) {
    if (kinds[index] !== TEXT || !names.includes(texts[index] ?? '')) continue
    const holder =
      texts[index - 1] === '=' && kinds[index - 2] === NAME ? (texts[index - 2] ?? '') : ''
    const uses = holder ? find(holder) : [index]
    if (uses.some((use) => isMember(script, use))) yield hit(script, index)
  }
}

function isMember({ tokens: { kinds, texts } }: Script, index: number): boolean {
  if (texts[index - 1] !== '[' || texts[index + 1] !== ']') return false
  return kinds[index - 2] === NAME || texts[index - 2] === ')' || texts[index - 2] === ']'
}
