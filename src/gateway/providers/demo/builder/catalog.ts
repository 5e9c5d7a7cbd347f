import checklist from './templates/checklist.html' with { type: 'text' }
import collector from './templates/collector.html' with { type: 'text' }
import master from './templates/master.html' with { type: 'text' }
import quiz from './templates/quiz.html' with { type: 'text' }
import snake from './templates/snake.html' with { type: 'text' }
import timer from './templates/timer.html' with { type: 'text' }

/** A kind of page: its template and kit, its shelf, and the words that select it. */
interface CatalogRow {
  /** `unknown`, since the types of text imports declare HTML as a bundle. */
  html: unknown
  kit: 'game' | 'app'
  shelf: string
  keywords: RegExp
}

/**
 * The kinds of pages, enough to try the whole of a build without a model. The first row whose
 * keywords a prompt has applies, so special kinds come before general ones.
 */
export const catalog = {
  master: {
    html: master,
    kit: 'app',
    shelf: 'adventure',
    keywords:
      /\b((game|dungeon|story|quest) ?masters?|story ?tellers?|interactive (story|stories|fiction)|text adventures?)\b/,
  },
  quiz: {
    html: quiz,
    kit: 'game',
    shelf: 'learn',
    keywords: /\b(quiz\w*|trivia|multiple choice)\b/,
  },
  snake: {
    html: snake,
    kit: 'game',
    shelf: 'arcade',
    keywords: /\b(snakes?|slither\w*|caterpillar)\b/,
  },
  timer: {
    html: timer,
    kit: 'app',
    shelf: 'tools',
    keywords: /\b(timers?|pomodoro|\d+[- ]minutes?)\b/,
  },
  checklist: {
    html: checklist,
    kit: 'app',
    shelf: 'tools',
    keywords:
      /\b(to-?dos?|to do list|check ?lists?|(shopping|packing|bucket|grocery|task|chore|wish) ?lists?|grocer(y|ies)|chores?|tasks)\b/,
  },
  collector: {
    html: collector,
    kit: 'game',
    shelf: 'arcade',
    keywords: /\b(collect\w*|catch\w*|gather\w*|grab\w*|dodg\w*|avoid\w*)\b/,
  },
} as const satisfies Record<string, CatalogRow>

export type TemplateName = keyof typeof catalog

const isTemplate = (name: string): name is TemplateName => Object.hasOwn(catalog, name)
export const templateNames = Object.keys(catalog).filter(isTemplate)

/** Returns the template of a prompt in lower case; undefined when none makes what it describes. */
export const findTemplate = (text: string): TemplateName | undefined =>
  templateNames.find((name) => catalog[name].keywords.test(text))
