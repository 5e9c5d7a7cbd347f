import { lookUp } from '../../../../kernel/schema.ts'
import { catalog } from './catalog.ts'
import type { PageSpec } from './prompt-analysis.ts'
import app from './templates/app.html' with { type: 'text' }
import game from './templates/game.html' with { type: 'text' }
import frame from './templates/page.html' with { type: 'text' }

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
/** Overrides the colors of both themes. */
const neon =
  ':root { color-scheme: dark; --page: oklch(.15 .03 var(--hue)); --page2: oklch(.11 .03 var(--hue)); --card: oklch(.2 .04 var(--hue)); --ink: oklch(.96 .02 var(--hue)); --soft: oklch(.78 .04 var(--hue)); --line: oklch(.95 .05 var(--hue) / .18); --main: oklch(.84 .24 var(--hue)); --onmain: oklch(.16 .04 var(--hue)); --tint: oklch(.25 .07 var(--hue)); --deep: oklch(.9 .18 var(--hue)); --warm: oklch(.78 .24 calc(var(--hue) + 200)); --shade: #000a; }'

const demo = 'Demo build: a template filled with words of the prompt. No model wrote it.'

/** The games whose players turn the speed. */
const paced: PageSpec['template'][] = ['collector', 'snake']
const tempoKnob =
  '<meta name="berth:knob" content="name=tempo; label=Speed; type=range; min=0.5; max=2; step=0.1; value=1">'

/** Renders the page of a specification. */
export function renderPage(spec: PageSpec): string {
  const { html, kit: kitName } = catalog[spec.template]
  const { style, body, script } = partsOf(html)
  const kit = kits[kitName]
  const title = escapeText(spec.title)
  const values: Record<string, string> = {
    style: `${kit.style}\n${style}`,
    script: `${kit.script}\n${script}`,
    board: body,
    body: kit.body,
    look: spec.isNeon ? neon : '',
    title,
    demo,
    hue: `${spec.hue}`,
    speed: `${spec.speed}`,
    words: inScript({ title: spec.title, ...spec.words }),
    knobs: paced.includes(spec.template) ? tempoKnob : '',
    assets: assetList(spec),
  }
  // Nested: a part may contain placeholders.
  const fill = (text: string): string =>
    text.replaceAll(/\{\{(\w+)\}\}/g, (placeholder, name: string) => {
      const value = lookUp(values, name)
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
  text.replaceAll(/[&<>"]/g, (one) => lookUp(entities, one) ?? '')

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

/** The sounds of games, besides the tones of their kit. */
const soundsOf: Partial<Record<PageSpec['template'], (keyof typeof sounds)[]>> = {
  collector: ['good', 'bad', 'over', 'tune'],
  snake: ['good', 'over', 'tune'],
  quiz: ['good', 'bad', 'over', 'win'],
}

/** The figures that a game draws. Emoji stand for the others. */
const figuresOf: Partial<Record<PageSpec['template'], string[]>> = {
  collector: ['hero', 'good', 'bad'],
  snake: ['good'],
}

/** Renders the data-assets list: the assets that the server generates for the page. */
function assetList({ template, words }: PageSpec): string {
  const { place, marks } = words
  const isMarked = (role: string): boolean =>
    typeof marks === 'object' && Object.hasOwn(marks, role)
  const figures = (figuresOf[template] ?? []).filter((role) => !isMarked(role))
  const list = [
    ...figures.map((role) => sprite(role, single(`${words[role]}`))),
    ...(template === 'collector'
      ? [{ name: 'back.png', kind: 'picture', what: `${place}`, width: 960, height: 960 }]
      : []),
    ...(soundsOf[template] ?? []).map((name) => sounds[name]),
  ]
  return list.length > 0
    ? `<script type="application/json" data-assets>${inScript(list)}</script>`
    : ''
}

const single = (words: string): string => words.replace(/ies$/, 'y').replace(/([^s])s$/, '$1')
