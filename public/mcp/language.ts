/** The languages of a view. A chat names its own after the view was loaded, so it has all. */
import { type LoadedLanguage, setLanguage, t } from '../words.ts'

const english: LoadedLanguage = { tag: 'en', dir: 'ltr', words: {} }

/** Returns the languages that the server embeds in a view, by their codes. */
const loaded = new Map<string, LoadedLanguage>(
  Object.entries(JSON.parse(document.getElementById('languages')?.textContent || '{}')),
)

/** Speaks the language of a locale of the chat, and English where Berth has no words for it. */
export function speak(locale: string): void {
  const [code = ''] = locale.toLowerCase().split(/[-_]/)
  setLanguage(loaded.get(code) ?? english)
  const titles = {
    sound: t('Mute'),
    reload: t('Restart'),
    full: t('Full screen'),
    page: t('Open on its own page'),
    close: t('Close'),
  }
  for (const [id, title] of Object.entries(titles)) {
    document.getElementById(id)?.setAttribute('title', title)
  }
}
