import { quoteBuild } from '../../apps/builds/builds.ts'
import type { AppContext } from '../../kernel/context.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { buildPromptCharsMax } from '../../kernel/limits.ts'
import { formatAmount } from '../format.ts'

const examples = [
  'A packing list with tent, boots and a map',
  'A quiz about the planets',
  'Snake in neon colors',
  'A game where a fox collects coins and dodges rocks',
]

interface PromptFieldOptions {
  value?: string | undefined
  label?: string
  placeholder?: string
  error?: string | undefined
}

/** The large field of a prompt, with its error. */
export function promptField(options: PromptFieldOptions = {}): Html {
  const { value = '', label = 'What should it do?', error } = options
  const { placeholder = 'A game where a fox collects coins …' } = options
  const invalid =
    error !== undefined && html` aria-invalid="true" aria-describedby="error-prompt" autofocus`
  return html`<label class="prompt-field"
      ><span class="visually-hidden">${label}</span
      ><textarea
        name="prompt"
        rows="3"
        dir="auto"
        required
        maxlength="${buildPromptCharsMax}"
        placeholder="${placeholder}"
        ${invalid}
      >
${value}</textarea>
    </label>
    ${error !== undefined && html`<p class="alert" id="error-prompt" role="alert">${error}</p>`}`
}

/** The maximum price of a build, and that a failed one is free. */
export const priceNote = (credits: number): Html =>
  html`<p class="small">
    At most ${formatAmount(credits, 'credit')}. You pay only if it succeeds.
  </p>`

/** Links that fill in the prompt of the page to make an app. */
const exampleChips: Html = html`<ul class="chips examples" aria-label="Examples">
  ${examples.map(
    (prompt) =>
      html`<li>
        <a href="/new?prompt=${encodeURIComponent(prompt)}" rel="nofollow">${prompt}</a>
      </li>`,
  )}
</ul>`

/**
 * The prompt box of public pages. It opens `/new` with the prompt: a page that everyone shares has
 * no form token and no agent.
 */
export function promptBox(ctx: AppContext): Part {
  const price = quoteBuild(ctx, 'app')
  if (price === undefined) return undefined
  return html`<form class="prompt-box" action="/new" method="get">
      ${promptField()}
      <div class="prompt-send">${priceNote(price)}<button class="button">Make it</button></div>
    </form>
    ${exampleChips}
    <p class="small">
      Or <a href="/new#page">bring an HTML file, a folder or a zip</a> and try it without an
      account.
    </p>`
}

const gameWords =
  /\b(games?|play|player|arcade|puzzle|quiz|trivia|snake|pong|tetris|breakout|solitaire|chess|minesweeper|maze|racing|shooter|platformer|dodges?|jumps?)\b/i

/** Guesses the kind of app that a prompt describes. */
export const kindOfPrompt = (prompt: string): 'app' | 'game' =>
  gameWords.test(prompt) ? 'game' : 'app'
