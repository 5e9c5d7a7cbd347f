import type { Model } from '../models/catalogue.ts'
import { testModel } from './models.ts'

/** What passes for a film: the box that an MP4 begins with. */
export const filmBytes = Buffer.from('\0\0\0\x14ftypisom\0\0\0\0isom', 'latin1')

/** A video model at 0.10 USD a second, whose upstream does one script of the fake upstream. */
export function filmModel(script: string): Model {
  const model = testModel(
    { per_second: '0.1' },
    {
      ...{ id: `video/${script}`, type: 'video', outputs: ['video'] },
    },
  )
  return { ...model, offers: [{ upstream: script, model: `fake/${script}`, price: model.price }] }
}
