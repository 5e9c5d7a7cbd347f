import type { PageSpec, TemplateName } from './prompt-analysis.ts'
import app from './templates/app.html' with { type: 'text' }
import breakout from './templates/breakout.html' with { type: 'text' }
import checklist from './templates/checklist.html' with { type: 'text' }
import collector from './templates/collector.html' with { type: 'text' }
import game from './templates/game.html' with { type: 'text' }
import memory from './templates/memory.html' with { type: 'text' }
import notes from './templates/notes.html' with { type: 'text' }
import frame from './templates/page.html' with { type: 'text' }
import quiz from './templates/quiz.html' with { type: 'text' }
import snake from './templates/snake.html' with { type: 'text' }
import timer from './templates/timer.html' with { type: 'text' }
import tracker from './templates/tracker.html' with { type: 'text' }

interface Parts {
  style: string
  body: string
  script: string
}

/** Splits a template. The types of text imports declare HTML as a bundle, hence `unknown`. */
const partsOf = (html: unknown): Parts => {
  const text = String(html)
  const [style = '', script = ''] = [/<style>\n(.*?)<\/style>\n/s, /<script>\n(.*)<\/script>/s].map(
    (part) => part.exec(text)?.[1],
  )
  const body = text.replace(/<style>.*?<\/style>\n/s, '').replace(/<script>.*<\/script>/s, '')
  return { style: style.trimEnd(), body: body.trimEnd(), script: script.trimEnd() }
}

const kits = { game: partsOf(game), app: partsOf(app) }
const templates: Record<TemplateName, Parts & { kit: Parts }> = {
  collector: { ...partsOf(collector), kit: kits.game },
  breakout: { ...partsOf(breakout), kit: kits.game },
  snake: { ...partsOf(snake), kit: kits.game },
  memory: { ...partsOf(memory), kit: kits.game },
  quiz: { ...partsOf(quiz), kit: kits.game },
  checklist: { ...partsOf(checklist), kit: kits.app },
  timer: { ...partsOf(timer), kit: kits.app },
  notes: { ...partsOf(notes), kit: kits.app },
  tracker: { ...partsOf(tracker), kit: kits.app },
}

const demo = 'Demo build: a template filled with words of the prompt. No model wrote it.'

/** Renders the page of a specification. */
export function renderPage(spec: PageSpec): string {
  const { style, body, script, kit } = templates[spec.template]
  const title = escapeText(spec.title)
  const values: Record<string, string> = {
    style: `${kit.style}\n${style}`,
    script: `${kit.script}\n${script}`,
    board: body,
    body: kit.body,
    title,
    demo,
    hue: `${spec.hue}`,
    speed: `${spec.speed}`,
    words: inScript({ title: spec.title, ...spec.words }),
    assets: assetList(spec),
  }
  // Nested: a part may contain placeholders.
  const fill = (text: string): string =>
    text.replaceAll(/\{\{(\w+)\}\}/g, (placeholder, name: string) => {
      const value = values[name]
      return value === undefined
        ? placeholder
        : /^(style|script|body|board)$/.test(name)
          ? fill(value)
          : value
    })
  return fill(String(frame)).replaceAll(/\n{2,}/g, '\n')
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
/** Escapes HTML like `escapeHtml`, but keeps apostrophes. */
export const escapeText = (text: string): string =>
  text.replaceAll(/[&<>"]/g, (one) => entities[one] ?? '')

const inScript = (value: unknown): string => JSON.stringify(value).replaceAll('<', '\\u003c')

const sounds = {
  good: { name: 'good', kind: 'sound', what: 'coin pickup, bright and short' },
  over: { name: 'over', kind: 'sound', what: 'lose, falling, soft' },
  win: { name: 'win', kind: 'sound', what: 'victory, level up' },
  bad: { name: 'bad', kind: 'sound', what: 'hit hurt, dull' },
  tune: { name: 'tune', kind: 'music', what: 'happy arcade', seconds: 16 },
}
const sprite = (name: string, what: string) => ({
  name: `${name}.png`,
  kind: 'sprite',
  what,
  width: 192,
  height: 192,
})

/** Renders the data-assets list: the assets that the server generates for the page. */
function assetList({ template, words }: PageSpec): string {
  const { hero, good, bad, cards, place } = words
  const requests = {
    collector: [
      sprite('hero', `${hero}`),
      sprite('good', single(`${good}`)),
      sprite('bad', single(`${bad}`)),
      { name: 'back.png', kind: 'picture', what: `${place}`, width: 960, height: 960 },
      sounds.good,
      sounds.bad,
      sounds.over,
      sounds.tune,
    ],
    snake: [sprite('good', single(`${good}`)), sounds.good, sounds.over, sounds.tune],
    breakout: [sounds.good, sounds.bad, sounds.over, sounds.win],
    quiz: [sounds.good, sounds.bad, sounds.over, sounds.win],
    memory: [...(Array.isArray(cards) ? cards : [])].map((card, at) =>
      sprite(`card${at}`, `${card}`),
    ),
  }
  const list = new Map<string, unknown[]>(Object.entries(requests)).get(template)
  return list ? `<script type="application/json" data-assets>${inScript(list)}</script>` : ''
}

const single = (words: string): string => words.replace(/ies$/, 'y').replace(/([^s])s$/, '$1')
