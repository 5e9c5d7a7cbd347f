import { lookUp } from '../kernel/schema.ts'
import { msg, t } from '../kernel/words/message.ts'

/** Words of the wire that pages show, such as kinds, shelves and states. */
const wireWords = {
  active: msg('active'),
  adventure: msg('adventure'),
  app: msg('app'),
  arcade: msg('arcade'),
  art: msg('art'),
  audio: msg('audio'),
  building: msg('building'),
  chat: msg('chat'),
  closed: msg('closed'),
  credits: msg('credits'),
  data: msg('data'),
  default: msg('default'),
  document: msg('document'),
  embedded: msg('embedded'),
  embedding: msg('embedding'),
  expired: msg('expired'),
  file: msg('file'),
  framework: msg('framework'),
  game: msg('game'),
  image: msg('image'),
  learn: msg('learn'),
  live: msg('live'),
  moderation: msg('moderation'),
  music: msg('music'),
  none: msg('none'),
  off: msg('off'),
  on: msg('on'),
  opens: msg('opens'),
  operator: msg('operator'),
  other: msg('other'),
  pending: msg('pending'),
  picture: msg('picture'),
  puzzle: msg('puzzle'),
  quarantined: msg('quarantined'),
  realtime: msg('realtime'),
  rerank: msg('rerank'),
  sim: msg('sim'),
  skill: msg('skill'),
  social: msg('social'),
  sound: msg('sound'),
  speech: msg('speech'),
  sprite: msg('sprite'),
  text: msg('text'),
  tools: msg('tools'),
  transcription: msg('transcription'),
  video: msg('video'),
  voice: msg('voice'),
  writing: msg('writing'),
} as const

/** Returns a word of the wire in the language of the page; other values as they are. */
export function wireWord(value: string): string {
  const word = lookUp(wireWords, value)
  return word ? t(word) : value
}
