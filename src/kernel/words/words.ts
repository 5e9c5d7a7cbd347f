import { AsyncLocalStorage } from 'node:async_hooks'

import type { IntlMessageFormat } from 'intl-messageformat'

import { type PublicFile, readPublic, readPublicText } from '../public-files.ts'
import { lookUp } from '../schema.ts'
import type { TranslatedTemplate } from './template.ts'

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

/** Translations by English message. */
export type Messages = Record<string, string>

/**
 * The parts of a catalog: the server, the scripts of its pages, and those of the page around an app
 * by their folders, which are sent only to apps that need them. `mcp` is the view of a chat.
 */
export const catalogParts = [
  'pages',
  'scripts',
  'frame',
  'bridge',
  'knobs',
  'moments',
  'mcp',
] as const
export type CatalogPart = (typeof catalogParts)[number]

export type Catalog = Record<CatalogPart, Messages>
type ScriptPart = Exclude<CatalogPart, 'pages'>

/** The words of one language, with the templates and messages that it has compiled. */
export class Words {
  readonly templates = new WeakMap<TemplateStringsArray, TranslatedTemplate>()
  private readonly scriptJson = new Map<string, string>()
  private readonly formats = new Map<string, IntlMessageFormat>()

  constructor(
    readonly language: Language,
    readonly catalog: Catalog,
    private readonly Format: typeof IntlMessageFormat,
  ) {}

  /** Returns a translation with its values; the English message where the catalog has none. */
  format(message: string, values: Record<string, string | number>): string {
    const { locale, dir } = languages[this.language]
    const known = this.formats.get(message)
    const format =
      known ?? new this.Format(this.find(message), locale, undefined, { ignoreTag: true })
    if (!known) this.formats.set(message, format)
    return String(format.format(dir === 'rtl' ? isolated(values) : values))
  }

  /** Returns the translations of scripts as JSON for the inside of a script element. */
  scriptWords(parts: readonly ScriptPart[]): string {
    const key = parts.join(' ')
    const known = this.scriptJson.get(key)
    if (known !== undefined) return known
    const messages = Object.assign({}, ...parts.map((part) => this.catalog[part]))
    const json = JSON.stringify(messages).replaceAll('<', '\\u003c')
    this.scriptJson.set(key, json)
    return json
  }

  /** Returns the translation of a message of a page; undefined where there is none. */
  findPage(message: string): string | undefined {
    // A title of a person may be the name of a field of every object.
    return lookUp(this.catalog.pages, message) || undefined
  }

  find(message: string): string {
    return this.findPage(message) ?? message
  }
}

/** Isolates texts from the direction of the sentence around them (UAX 9, 2.4). */
const isolated = (values: Record<string, string | number>): Record<string, string | number> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' ? `\u2068${value}\u2069` : value,
    ]),
  )

const current = new AsyncLocalStorage<Words | undefined>()

/** Returns the words of the page that is rendered; undefined for English. */
export const currentWords = (): Words | undefined => current.getStore()

export const currentLanguage = (): Language => currentWords()?.language ?? 'en'

/** Returns an amount with its unit, isolated where the page runs from right to left. */
export const leftToRight = (amount: string): string =>
  languages[currentLanguage()].dir === 'rtl' ? `\u2066${amount}\u2069` : amount

/** Returns the attributes of the html element of a page: its language and direction. */
export function languageAttributes(): string {
  const { tag, dir } = languages[currentLanguage()]
  return dir === 'rtl' ? `lang="${tag}" dir="rtl"` : `lang="${tag}"`
}

/** Returns the element with the translations that scripts read; '' on an English page. */
export function scriptWords(...parts: ScriptPart[]): string {
  const words = currentWords()
  if (!words) return ''
  return `<script type="application/json" id="words">${words.scriptWords(parts)}</script>`
}

/** Runs work in English, such as an operation, whose texts are stored or read by programs. */
export const inEnglish = <Result>(work: () => Result): Result => current.run(undefined, work)

/** The languages that this process has opened. */
export const openedWords = new Map<Language, Words>()

/** Runs work whose pages are in a language. Its catalog is read with the first request for it. */
export function inLanguage<Result>(
  language: Language,
  work: () => Result | Promise<Result>,
): Result | Promise<Result> {
  if (language === 'en') return work()
  const words = openedWords.get(language)
  return words ? current.run(words, work) : openAndRun(language, work)
}

function readCatalog(files: ReadonlyMap<string, PublicFile>, language: Language): Catalog {
  return JSON.parse(readPublicText(files, `words/${language}.json`))
}

/** Returns the other languages with their messages, for a page that learns its own late. */
export const loadedLanguages = (
  files: ReadonlyMap<string, PublicFile>,
  ...parts: ScriptPart[]
): Record<string, { tag: string; dir: string; words: Messages }> =>
  Object.fromEntries(
    languageCodes
      .filter((language) => language !== 'en')
      .map((language) => {
        const catalog = readCatalog(files, language)
        const words = Object.assign({}, ...parts.map((part) => catalog[part]))
        const { tag, dir } = languages[language]
        return [language, { tag, dir, words }]
      }),
  )

async function openAndRun<Result>(
  language: Language,
  work: () => Result | Promise<Result>,
): Promise<Result> {
  // English needs no library: its messages have only names in braces.
  const { IntlMessageFormat: Format } = await import('intl-messageformat')
  const catalog = readCatalog(readPublic(), language)
  const words = openedWords.get(language) ?? new Words(language, catalog, Format)
  openedWords.set(language, words)
  return current.run(words, work)
}

/** Returns a function that creates a value once for each language, such as a format of `Intl`. */
export function perLanguage<Value>(create: (locale: string, language: Language) => Value) {
  const values = new Map<Language, Value>()
  return (): Value => {
    const language = currentLanguage()
    const known = values.get(language)
    if (known !== undefined) return known
    const value = create(languages[language].locale, language)
    values.set(language, value)
    return value
  }
}
