import type { Answered } from '../../core/pool.ts'
import { differenceOf } from './difference.ts'
import { excerptsOf } from './excerpts.ts'
import type { Asked, Told } from './source.ts'

declare const self: Worker

const decoder = new TextDecoder()

function tell(asked: Asked): Told {
  if ('page' in asked) return { excerpts: excerptsOf(decoder.decode(asked.page), asked.places) }
  const { before, after } = asked
  return { difference: differenceOf(decoder.decode(before), decoder.decode(after)) }
}

self.onmessage = (event: MessageEvent<Asked>) => {
  let answered: Answered<Told>
  try {
    answered = { answer: tell(event.data) }
  } catch (error) {
    answered = { fault: String(error) }
  }
  self.postMessage(answered)
}
