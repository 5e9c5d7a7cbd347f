import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import { BehindEnd, Media } from '../../core/shape.ts'
import type { House } from '../../house.ts'
import { Refusal } from '../../refusals.ts'
import { callOf } from '../call.ts'
import { withKey, withoutKey } from '../key.ts'
import * as made from '../made/made.ts'
import { openOperation, operation } from '../operation.ts'
import { paidRefusals } from '../paid/pay.ts'
import { paint } from './images.ts'
import * as shapes from './shapes.ts'

const Picture = Media('image/*')

/** Pictures (document 2, POST /v1/images/generations), and where they are seen. */
export const imageRoutes = (house: House) =>
  new Elysia().use(newImages(house)).use(keptImages(house))

const newImages = (house: House) =>
  new Elysia().use(withKey(house)).post(
    '/images/generations',
    ({ spender, body, request }) => paint(house, spender, body, callOf(request)),
    operation(
      {
        id: 'create_images',
        tag: 'Media',
        summary: 'Make pictures of a prompt.',
        more: 'Paid for each picture that comes: cost tells it, in USD. Links work for 24 hours.',
        takes: { 'application/json': { schema: shapes.imagesWanted } },
      },
      { 200: Type.Unsafe<Response>(shapes.Images) },
      paidRefusals,
    ),
  )

const keptImages = (house: House) =>
  new Elysia().use(withoutKey()).get(
    '/images/:id',
    async ({ params, query }) => {
      const picture = await made.look(house, params.id, query)
      if (picture) return made.shown(picture)
      throw new Refusal('not_found', { what: 'picture: its address works for 24 hours' })
    },
    {
      query: shapes.Marks,
      ...openOperation(
        { id: 'get_image', tag: 'Media', summary: 'A picture, by its signed address.' },
        { 200: Picture, 206: Picture, 416: BehindEnd },
        ['not_found'],
      ),
    },
  )
