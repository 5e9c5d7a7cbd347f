/**
 * websim: `websim.getUser`, `getCurrentUser`, `getCreator` and `getCurrentProject` of pages without
 * a WebsimSocket. Source: the documentation and public pages of websim (November 2026).
 */
import { extend } from './bridge-calls.ts'
import { avatarOf, replaceAvatars } from './player-look.ts'

// The script of WebsimSocket knows the players.
if (Reflect.get(window, 'WebsimSocket') === undefined) {
  const pseudonym = `guest-${Math.random().toString(36).slice(2, 7)}`
  const user = { id: pseudonym, username: pseudonym, avatar_url: avatarOf(pseudonym) }
  const getUser = async () => user
  extend('websim', {
    getUser,
    getCurrentUser: getUser,
    getCreator: async () => ({ id: '', username: 'maker', avatar_url: '' }),
    getCurrentProject: async () => ({ id: '', title: document.title }),
  })
  replaceAvatars()
}
