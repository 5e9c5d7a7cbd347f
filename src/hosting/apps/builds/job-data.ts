import { type Static, Type } from '@sinclair/typebox'

import { oneOf } from '../../../core/schema.ts'
import { shelfNames } from '../shelves.ts'

/** What a build is asked for. */
export const BuildInput = Type.Object({
  prompt: Type.String(),
  kind: Type.Union([Type.Literal('app'), Type.Literal('game')]),
  /** Whether it goes on Explore when it may. */
  store: Type.Boolean(),
  /** The version that is changed; left out for a new app. */
  version: Type.Optional(Type.Integer()),
  /** What its maker says of it; the prompt where that is nothing. */
  note: Type.Optional(Type.String()),
  /** Nano of its price that free credits were to pay, counted on the day it was begun. */
  free: Type.String(),
})
export type BuildInput = Static<typeof BuildInput>

/** What a build keeps on its way: its page once that has passed, and what was spent for it. */
export const BuildData = Type.Object({
  html: Type.String(),
  /** Nano. */
  spent: Type.String(),
  /** Tokens of all its calls. */
  used: Type.Object({
    prompt: Type.Integer(),
    cached: Type.Integer(),
    completion: Type.Integer(),
    reasoning: Type.Integer(),
    estimated: Type.Boolean(),
  }),
  plan: Type.Object({
    title: Type.String(),
    description: Type.String(),
    shelf: oneOf(shelfNames),
    plan: Type.String(),
  }),
})
export type BuildData = Static<typeof BuildData>
