import type { Model } from '../models/catalogue.ts'
import { webm } from '../providers/demo/webm.ts'
import { testModel } from './models.ts'

/** What passes for a film: the box that an MP4 begins with. */
export const filmBytes = Buffer.from('\0\0\0\x14ftypisom\0\0\0\0isom', 'latin1')

function box(name: string, ...parts: Uint8Array[]): Buffer {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(parts.reduce((sum, part) => sum + part.length, head.length))
  head.write(name, 4, 'latin1')
  return Buffer.concat([head, ...parts])
}

/** An MP4 that says it lasts so long and shows nothing; 0 where it does not say. */
export function makeMp4(seconds: number): Buffer {
  const header = Buffer.alloc(100)
  header.writeUInt32BE(1_000, 12)
  header.writeUInt32BE(seconds * 1_000, 16)
  const media = box('mdat', Buffer.from('no pictures'))
  return Buffer.concat([filmBytes, media, box('moov', box('mvhd', header))])
}

/** A WebM that says it lasts so long and shows nothing. */
export const makeWebm = (seconds: number): Buffer =>
  webm([], { ms: seconds * 1_000, width: 16, height: 9 })

/** A video model at 0.10 USD a second, whose upstream does one script of the fake upstream. */
export function filmModel(script: string): Model {
  const id = `video/${script}`
  const model = testModel({ per_second: '0.1' }, { id, type: 'video', outputs: ['video'] })
  return { ...model, offers: [{ upstream: script, model: `fake/${script}`, price: model.price }] }
}
