/**
 * The languages of pages, each with its own name, its locale of `Intl` and its direction. A
 * language is here once its catalog is complete.
 */
export const languages = {
  en: { name: 'English', locale: 'en', tag: 'en', dir: 'ltr' },
  de: { name: 'Deutsch', locale: 'de', tag: 'de', dir: 'ltr' },
  es: { name: 'Español', locale: 'es', tag: 'es', dir: 'ltr' },
  zh: { name: '简体中文', locale: 'zh-Hans', tag: 'zh-Hans', dir: 'ltr' },
  // Digits of one form: ids, versions and code beside them have Latin digits.
  ar: { name: 'العربية', locale: 'ar-u-nu-latn', tag: 'ar', dir: 'rtl' },
} as const

export type Language = keyof typeof languages

export const isLanguage = (text: string): text is Language => Object.hasOwn(languages, text)

export const languageCodes = Object.keys(languages).filter(isLanguage)
