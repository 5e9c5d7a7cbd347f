import { field, isLibraries, type PageContent } from '../frame/messages.ts'

/** An app with all that its page needs, as the server sends it. */
export interface AppContent extends PageContent {
  id: string
  title: string
  maker: string
  /** The right to call for it. */
  pass: string
  /** Its public page. */
  link: string
  /** The content security policy of its sandbox. */
  policy: string
}

const texts = ['id', 'title', 'maker', 'pass', 'link', 'policy', 'html']

/** Returns whether received data is an app. */
export const isAppContent = (data: unknown): data is AppContent =>
  texts.every((name) => typeof field(data, name) === 'string') &&
  (field(data, 'libraries') === undefined || isLibraries(field(data, 'libraries')))
