import { Type } from '@sinclair/typebox'

import { anyone } from '../../people/authentication.ts'
import { operationsOf, writeErrors } from '../../people/operation.ts'
import * as people from '../../people/own-profile.ts'
import { person } from '../../people/session-user.ts'
import { PutImageSchema } from '../covers/schemas.ts'
import * as schemas from './profile-page.ts'
import {
  getProfilePage,
  presentOwnProfile,
  putAvatar as storeAvatar,
  readOwnProfile,
} from './profile-page.ts'

const operation = operationsOf('People')

const getProfile = operation({
  id: 'get_profile',
  route: 'GET /people/@:handle',
  summary: 'Read what a person shows: agents with their items, collections, reviews, follows.',
  description: 'The newest of each. A handle that the person had before leads to the same page.',
  access: anyone,
  input: { params: Type.Object({ handle: Type.String() }) },
  output: { 200: schemas.ProfilePageSchema },
  errors: ['agents_off', 'not_found'],
  run: (ctx, { params }) => getProfilePage(ctx, params.handle),
})

const getOwnProfile = operation({
  id: 'get_own_profile',
  route: 'GET /people/me/profile',
  summary: 'Show your public self, and what you show on your page.',
  access: person,
  output: { 200: schemas.OwnProfileSchema },
  run: (ctx, { caller }) => readOwnProfile(ctx, caller),
})

export const changeProfile = operation({
  id: 'change_profile',
  route: 'PATCH /people/me/profile',
  summary: 'Choose your handle, and what your page shows.',
  description: 'The page is at /@handle. It is private until you make it public.',
  access: person,
  input: { body: schemas.ChangeProfileSchema },
  output: { 200: schemas.OwnProfileSchema },
  errors: [...writeErrors, 'bad_handle', 'handle_taken'],
  async run(ctx, { caller, body }) {
    return presentOwnProfile(ctx, await people.changeProfile(ctx, caller, body))
  },
})

export const putAvatar = operation({
  id: 'put_avatar',
  route: 'PUT /people/me/profile/avatar',
  summary: 'Set the picture of your page.',
  description: 'It is cropped to its middle square, scaled to 256 pixels, and checked.',
  access: person,
  input: { body: PutImageSchema },
  output: { 200: schemas.OwnProfileSchema },
  errors: [...writeErrors, 'bad_picture', 'too_big'],
  run: (ctx, { caller, body }) => storeAvatar(ctx, caller, body.image),
})

export const removeAvatar = operation({
  id: 'remove_avatar',
  route: 'DELETE /people/me/profile/avatar',
  summary: 'Remove the picture of your page, which then has a drawn flag.',
  access: person,
  output: { 200: schemas.OwnProfileSchema },
  errors: writeErrors,
  async run(ctx, { caller }) {
    return presentOwnProfile(ctx, await people.changeAvatar(ctx, caller, null))
  },
})

/** The public selves of people (document 1, section 1, People). */
export const profileOperations = [getProfile, getOwnProfile, changeProfile, putAvatar, removeAvatar]
