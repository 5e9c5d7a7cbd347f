/**
 * The languages of pages, each with its own name, its locale of `Intl` and its direction. A
 * language is offered once its catalog is complete.
 */
export const languages = {
  en: { name: 'English', locale: 'en', tag: 'en', dir: 'ltr', isOffered: true },
  de: { name: 'Deutsch', locale: 'de', tag: 'de', dir: 'ltr', isOffered: true },
  es: { name: 'Español', locale: 'es', tag: 'es', dir: 'ltr', isOffered: true },
  zh: { name: '简体中文', locale: 'zh-Hans', tag: 'zh-Hans', dir: 'ltr', isOffered: true },
  // Digits of one form: ids, versions and code beside them have Latin digits.
  ar: { name: 'العربية', locale: 'ar-u-nu-latn', tag: 'ar', dir: 'rtl', isOffered: true },
} as const

export type Language = keyof typeof languages

const isLanguage = (text: string): text is Language => Object.hasOwn(languages, text)

/** Returns whether a text is the code of a language that pages offer. */
export const isOfferedLanguage = (text: string): text is Language =>
  isLanguage(text) && languages[text].isOffered

/** The languages that pages offer. */
export const offeredLanguages = Object.keys(languages).filter(isOfferedLanguage)
